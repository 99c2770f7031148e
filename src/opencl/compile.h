// Compiles OpenCL C with the device's own compiler, for a process of its own in the sandbox: source in, a program's binary and what
// its kernels ask for out. Nothing of it is run.
#pragma once

#include <string>
#include <vector>

#include "opencl/launch_plan.h"

namespace kw::opencl {

struct Compiled {
  std::string binary;                // as clCreateProgramWithBinary takes it
  std::vector<KernelFacts> kernels;  // empty where it does not compile
  std::string log;                   // what the compiler said
};

Result<Compiled> compile(const std::string& source, const std::string& options);

// The whole of the executable kw-clc: "describe", or "compile SOURCE BINARY FACTS OPTIONS". The compiler's log is on standard
// error; exit status 1: the source does not compile, 2: there is no device.
int run_compiler(const std::vector<std::string>& words);

}  // namespace kw::opencl
