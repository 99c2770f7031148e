// Another program's work on one core: a child process that spins there until this object is gone.
#pragma once

#include <sys/types.h>

#include "base/result.h"

namespace kw::stability {

class CoreLoad {
 public:
  static Result<CoreLoad> start(int core);
  CoreLoad(CoreLoad&& other) noexcept;
  CoreLoad& operator=(CoreLoad&&) = delete;
  CoreLoad(const CoreLoad&) = delete;
  CoreLoad& operator=(const CoreLoad&) = delete;
  ~CoreLoad();

 private:
  explicit CoreLoad(pid_t child) : child_(child) {}
  pid_t child_;
};

}  // namespace kw::stability
