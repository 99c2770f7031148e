// A machine record in the cache, so that opening an evaluator measures nothing. Its ceilings are beyond any real ones:
// no time is ever called impossible.
#pragma once

#include <gtest/gtest.h>

#include "machine/machine_cache.h"

namespace kw::testing {

inline Machine plant_machine() {
  MachineRequest request;
  request.probe = [](const CpuInfo& cpu, const Progress&) -> Result<Machine> {
    Machine machine;
    machine.id = machine_id(cpu);
    machine.cpu_model = cpu.model;
    machine.cores = cpu.cores;
    machine.isas = cpu.isas;
    for (const int threads : {1, cpu.cores}) {
      machine.peaks.push_back({"sse2", threads, 1e6});
      for (const char* pattern : {"read", "write", "copy", "triad"})
        for (const double bytes : {1e4, 1e9}) machine.bandwidth.push_back({pattern, threads, bytes, 1e5});
    }
    machine.openmp_region_seconds = 1e-6;
    machine.measured_at = "2000-01-01T00:00:00Z";
    return machine;
  };
  auto machine = this_machine(request);
  EXPECT_TRUE(machine.ok()) << (machine.ok() ? "" : machine.error().message);
  return std::move(machine).value();
}

}  // namespace kw::testing
