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

  static CompileOptions within(double seconds, sandbox::Mode mode) {
    CompileOptions options;
    options.mode = mode;
    options.deadline = std::chrono::milliseconds(static_cast<long long>(seconds * 1000));
    return options;
  }
};

struct CompiledKernel {
  std::string object;  // lives as long as the folder that it was built in
  bool has_prepare = false;
  double seconds = 0;
};

// An object, or why there is none.
struct CompileOutcome {
  std::optional<CompiledKernel> kernel;
  Verdict verdict = Verdict::compile_failed;
  Diagnosis diagnosis;
};

}  // namespace kw
