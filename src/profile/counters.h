// Hardware counters of a process that runs a kernel: cycles, instructions and cache misses of all its threads, through
// perf_event_open. Many containers and virtual machines have none, which is an answer and not a failure.
#pragma once

#include <sys/types.h>
#include <cstdint>
#include <vector>

#include "base/result.h"

namespace kw {

struct CounterValues {
  double cycles = 0;
  double instructions = 0;
  double cache_references = 0;
  double cache_misses = 0;  // of the last level
  [[nodiscard]] double instructions_per_cycle() const { return cycles > 0 ? instructions / cycles : 0; }
};

class Counters {
 public:
  // Does the system let this process count? Asked once.
  static bool available();

  // For every thread that the process has now and those that they start later. Stopped until start().
  static Result<Counters> open(pid_t process);

  Counters(Counters&& other) noexcept;
  Counters& operator=(Counters&& other) noexcept;
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;
  ~Counters();

  Status start();  // from 0
  Status stop();
  // Where there are more events than counters the system takes turns: the values are scaled up to the whole time.
  [[nodiscard]] Result<CounterValues> read() const;

 private:
  struct Event {
    int descriptor = -1;
    std::size_t which = 0;
  };
  Counters() = default;
  Status for_all(unsigned long request);
  std::vector<Event> events_;
};

}  // namespace kw
