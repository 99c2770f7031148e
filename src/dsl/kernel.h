// A kernel's source on its way to an object, in terms that every DSL shares.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/files.h"
#include "dsl/torch_blank.h"
#include "opencl/launch_plan.h"
#include "record/problem.h"
#include "record/verdict.h"
#include "sandbox/sandbox.h"
#include "vgpu/present_gpu.h"

namespace kw {

struct KernelSource {
  std::string file;  // for messages; what the user called it
  std::string text;
  std::map<std::string, std::string> knobs;  // macros that override the defaults in the text
};

struct CompileOptions {
  sandbox::Mode mode = sandbox::Mode::bubblewrap;
  std::chrono::milliseconds deadline{120000};  // of processor time, where a compiler's programs are counted by it: see bound()
  bool debug = false;                          // for diagnoses: sanitizers and line numbers
  bool lines = false;                          // the same code with line numbers
  std::string gpu;                             // the data sheet that kernels in CUDA are for: an id or a file; empty: the usual one
  std::optional<vgpu::PresentGpu> device;      // kernels in CUDA are built for it, too
  bool allow_torch = false;                    // for files with ModelNew: PyTorch's operators may do the work

  static CompileOptions within(double seconds, sandbox::Mode mode) {
    CompileOptions options;
    options.mode = mode;
    options.deadline = std::chrono::milliseconds(static_cast<long long>(seconds * 1000));
    return options;
  }

  // Compilers are slow, and others may use the machine: what ends one is the processor time of its programs, and the clock later,
  // for those that only wait.
  void bound(sandbox::Limits& limits) const {
    constexpr int kPatience = 4;
    limits.processor = deadline;
    limits.deadline = kPatience * deadline;
  }
};

// What goes with a kernel in CUDA.
struct GpuBuild {
  std::string gpu;              // the data sheet's id or file
  std::string library;          // libkw_cudart.so, which the object is linked with
  std::string facts;            // what ptxas said of each kernel: JSON
  std::string ptx;              // the file
  std::string device_object{};  // the same code linked for the machine's own GPU; empty: not wanted, or this DSL has none
};

// What goes with a Python file that defines ModelNew.
struct PythonBuild {
  std::string folder;  // the candidate's own: candidate.py and what was compiled for it
  std::string file;    // as the user calls it
  bool triton = false;
  bool allow_torch = false;
  bool movement_is_work = false;      // the problem only moves data, so that PyTorch's copies would be all of it
  std::optional<BlankTorch> blank{};  // PyTorch's code without its kernels, for when it may not do the work
};

// What goes with a kernel in OpenCL C, whose object is a program's binary.
struct OpenClBuild {
  opencl::LaunchPlan plan;
  std::vector<std::string> files;  // of the device's runtime: what a process needs to see
  std::vector<std::string> code;   // objects with the machine code, for whoever reads it
};

struct CompiledKernel {
  std::string object;  // lives as long as the folder that it was built in
  bool has_prepare = false;
  double seconds = 0;
  std::optional<GpuBuild> gpu;
  std::optional<PythonBuild> python;
  std::vector<std::string> notes;  // what compiling it showed
  std::optional<OpenClBuild> opencl;
};

// An object, or why there is none.
struct CompileOutcome {
  std::optional<CompiledKernel> kernel;
  Verdict verdict = Verdict::compile_failed;
  Diagnosis diagnosis;

  static CompileOutcome failed(Verdict verdict, Diagnosis diagnosis) {
    CompileOutcome outcome;
    outcome.verdict = verdict;
    outcome.diagnosis = std::move(diagnosis);
    return outcome;
  }
};

}  // namespace kw
