// A kernel's source on its way to an object, in terms that every DSL shares.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/files.h"
#include "record/problem.h"
#include "record/verdict.h"
#include "sandbox/sandbox.h"

namespace kw {

struct KernelSource {
  std::string file;  // for messages; what the user called it
  std::string text;
  std::map<std::string, std::string> knobs;  // macros that override the defaults in the text
};

struct CompileOptions {
  sandbox::Mode mode = sandbox::Mode::bubblewrap;
  std::chrono::milliseconds deadline{120000};
  bool debug = false;  // for diagnoses: sanitizers and line numbers
  bool lines = false;  // the same code with line numbers
  std::string gpu;     // the data sheet that kernels in CUDA are for: an id or a file; empty: the usual one

  static CompileOptions within(double seconds, sandbox::Mode mode) {
    CompileOptions options;
    options.mode = mode;
    options.deadline = std::chrono::milliseconds(static_cast<long long>(seconds * 1000));
    return options;
  }
};

// What goes with a kernel in CUDA.
struct GpuBuild {
  std::string gpu;      // the data sheet's id or file
  std::string library;  // libkw_cudart.so, which the object is linked with
  std::string facts;    // what ptxas said of each kernel: JSON
  std::string ptx;      // the file
};

struct CompiledKernel {
  std::string object;  // lives as long as the folder that it was built in
  bool has_prepare = false;
  double seconds = 0;
  std::optional<GpuBuild> gpu;
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
