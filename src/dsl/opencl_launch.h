// The launch lines of an OpenCL C file, which stand in its comments, read without running or compiling anything:
//   // kw:scratch sums float x_dim0
//   // kw:launch row_sums groups=x_dim0 local=1
//   // kw:launch scale(x, sums, out) global=x_dim1, x_dim0 local=64, 1
//   // kw:prepare pack groups=weight_dim0 local=1
// Sizes are arithmetic over the constants of problem.h and the file's macros; parameters without a list go by their names.
#pragma once

#include <optional>

#include "dsl/kernel.h"
#include "opencl/launch_plan.h"

namespace kw {

struct OpenClScratch {
  std::string name, type;
  std::uint64_t bytes = 0;
};

struct OpenClLaunch {
  int line = 0;
  bool prepare = false;
  std::string kernel;
  std::optional<std::vector<std::string>> arguments;  // texts, as they stand
  std::array<std::uint64_t, 3> global{1, 1, 1}, local{1, 1, 1};
};

struct OpenClLaunches {
  std::vector<OpenClScratch> scratch;
  std::vector<OpenClLaunch> launches;
  std::map<std::string, std::int64_t> numbers;  // what names stand for: problem.h's, and the macros that launch lines use
};

template <typename T>
struct OpenClRead {  // what was read, or what is wrong with the file
  std::optional<T> value;
  Diagnosis diagnosis;
};

// The file's lines with their numbers worked out. Anything that a line cannot mean is a diagnosis with its place.
OpenClRead<OpenClLaunches> read_launches(const ProblemDescription& problem, const KernelSource& source);

// What each parameter of each launch gets, now that the compiler has said which there are.
OpenClRead<opencl::LaunchPlan> plan_launches(const ProblemDescription& problem, const KernelSource& source,
                                             const OpenClLaunches& read, const std::vector<opencl::KernelFacts>& kernels);

}  // namespace kw
