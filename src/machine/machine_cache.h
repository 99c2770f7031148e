// This machine's ceilings: measured once, then kept in <cache_home()>/machines/<id>.json.
// A file that is damaged, incomplete or of another machine is never used; it is measured anew.
#pragma once

#include "machine/machine_lock.h"
#include "machine/probe.h"

namespace kw {

struct MachineRequest {
  bool refresh = false;  // measure even if there is a good file
  Progress progress;     // told what is being measured, and what was wrong with a file
  LockWait wait;         // for other timings to end, where measuring is needed
  fs::path folder = cache_home();
  std::function<Result<Machine>(const CpuInfo&, const Progress&)> probe = [](const CpuInfo& cpu, const Progress& progress) {
    return probe_machine(cpu, {}, progress);
  };
};

// Takes the MachineLock while measuring: not to be called while holding it.
Result<Machine> this_machine(const MachineRequest& request = {});
Result<Machine> machine_of(const CpuInfo& cpu, const MachineRequest& request);

// The record in `file`, if it is whole and of the machine with this id.
Result<Machine> read_machine(const fs::path& file, std::string_view id);

// What makes a record unusable, or success: all ceilings present, finite and positive.
Status check_machine(const Machine& machine);

}  // namespace kw
