// How much a coder may write for one kernel, and how long it may take: a graph that grows when it is written out ends in an error
// instead of filling memory. Limits of the work as a whole (base/work_limit.h) hold while it writes, too.
#pragma once

#include <cstddef>
#include <utility>

#include "base/result.h"

namespace kw {

// What ends the writing of a kernel, from any depth of it; WritingLimit::within makes an error of it.
struct WritingEnded {
  Error error;
};

class WritingLimit {
 public:
  // Runs `write`, whose result is an Error or has a value.
  template <typename Write>
  static auto within(const Write& write) -> decltype(write()) {
    try {
      const WritingLimit limit;
      return write();
    } catch (const WritingEnded& ended) {
      return ended.error;
    }
  }

  WritingLimit(const WritingLimit&) = delete;
  WritingLimit& operator=(const WritingLimit&) = delete;

 private:
  WritingLimit();
  ~WritingLimit();
};

// One more step of writing, or of looking at the graph for it, and the text that it made. Throws WritingEnded; outside of any
// WritingLimit it does nothing.
void count_writing(std::size_t text_bytes = 0);

}  // namespace kw
