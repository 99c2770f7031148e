// How a Spec becomes a Guest of the supervisor: inside bubblewrap, or itself, restricted by Landlock or not at all.
#pragma once

#include <memory>

#include "base/files.h"
#include "sandbox/supervisor.h"

namespace kw::sandbox {

struct Finished {
  int status = 0;  // of the program, as waitpid gives it
  bool by_us = false;
  std::uint64_t peak_memory_bytes = 0;
};

// A started program in one of the modes.
class Running {
 public:
  explicit Running(Supervisor supervisor) : supervisor_(std::move(supervisor)) {}
  virtual ~Running() = default;
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  [[nodiscard]] const Supervisor& supervisor() const { return supervisor_; }
  [[nodiscard]] virtual pid_t program_pid() const = 0;  // 0: unknown
  // Kills what is left and returns when every process is gone. Call once.
  virtual Result<Finished> end() = 0;

 protected:
  Supervisor supervisor_;
};

Result<std::unique_ptr<Running>> start_in_bubblewrap(const Spec& spec, const Streams& streams, Clock::time_point until);
Result<std::unique_ptr<Running>> start_in_landlock(const Spec& spec, const Streams& streams, Clock::time_point until);
Result<std::unique_ptr<Running>> start_unconfined(const Spec& spec, const Streams& streams, Clock::time_point until);

}  // namespace kw::sandbox
