// What a process that loads a hostile shared object may still ask of the kernel: allow-lists in two stages, and a
// report of the first call that is not on them. Files, processes and limits are sandbox.h's matter.
//
// In the runner: make the OpenMP pool, install_violation_reporter, prepare, install_load, dlopen and dlsym,
// install_run, then call the kernel.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace kw::sandbox {

// Memory that files may be shown in, read-only and shared, again and again.
struct SharedPlace {
  const void* address = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;  // in the file
};

struct FilterOptions {
  int control_fd = 3;        // may be read, written and polled
  bool threads = false;      // new threads of this process are allowed; new processes never are
  bool protections = false;  // protections of memory may change, but never to executable: a virtual GPU closes its memory
  // For a GPU's driver in the process, which opens its device and talks to it at any time, and has threads. What can be opened is
  // then the sandbox's matter alone, and a call that is on neither list fails instead of ending the process.
  bool device = false;
  std::vector<SharedPlace> shared_places;  // where whoever holds the control descriptor shows what comes through it
};

// Both stages are built before the first is installed, since building needs calls that the first forbids.
class RunnerFilters {
 public:
  static Result<RunnerFilters> prepare(const FilterOptions& options);
  RunnerFilters(RunnerFilters&&) noexcept;
  RunnerFilters& operator=(RunnerFilters&&) noexcept;
  ~RunnerFilters();

  // For dlopen and static constructors: reads files; no processes, sockets, signals to others, timers, priorities or
  // written files; no memory that is writable and executable. Holds for all threads.
  Status install_load();
  // For the kernel: also no opening, reading or mapping of files, no change of protection, no mapping at a chosen address, but for
  // the shared places. Output goes to descriptors 1 and 2 and the control descriptor only.
  Status install_run();

 private:
  struct Programs;
  explicit RunnerFilters(std::unique_ptr<Programs> programs);
  std::unique_ptr<Programs> programs_;
};

// A forbidden call writes one line {"event":"violation","syscall":NUMBER} to the control descriptor and ends the
// process with violation_exit_code. Outside it shows as death by SIGSYS.
Status install_violation_reporter(int control_fd);
inline constexpr int violation_exit_code = 159;

// "socket" for 41 on x86-64; "syscall 9999" for a number without a name.
std::string syscall_name(int number);

}  // namespace kw::sandbox
