// What a Python kernel launched, as the compile step wrote it down, and the host code that does the same again: `kw_call` with the
// same launches over the tensors of each call. A recording comes from code that is not trusted: every number of it is checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "record/problem.h"
#include "record/verdict.h"

namespace kw {

// Where a pointer points: into an argument of the problem, or into memory of the call's own.
struct RecordedPlace {
  bool argument = false;
  std::size_t index = 0;
  std::uint64_t offset = 0;
};

// One parameter of a kernel: a pointer, a scalar input converted to the kernel's type, or bytes.
struct RecordedValue {
  std::optional<RecordedPlace> place;
  std::optional<std::size_t> scalar;
  std::string type;   // of a scalar: "fp32", "fp64"
  std::string bytes;  // as they are
};

struct RecordedStep {
  bool fill = false;
  RecordedPlace place;  // of a fill
  std::uint64_t bytes = 0;
  int byte = 0;
  std::size_t module = 0;  // of a launch
  std::vector<std::uint32_t> grid, block;
  std::uint32_t shared = 0;
  bool cooperative = false;
  std::vector<RecordedValue> arguments;
};

struct RecordedModule {
  std::string file, kernel;
};

struct Recording {
  std::vector<std::uint64_t> memories;  // bytes of each temporary
  std::vector<RecordedModule> modules;
  std::vector<RecordedStep> steps;
  Json facts;  // what ptxas said, by kernel
};

// Why there is no recording.
struct RecordingRefusal {
  Verdict verdict = Verdict::compile_failed;
  std::string message, hint;
  int line = 0;
};

// The recording, or the module's refusal. An error: the text is no recording that could be true of this problem.
Result<std::variant<Recording, RecordingRefusal>> read_recording(const std::string& text, const ProblemDescription& problem);

// `kernels`: how the code refers to the kernel of each module: "kw_handle0", "(const void*)main_kernel".
std::string kw_call_text(const Recording& recording, const std::vector<std::string>& kernels);

}  // namespace kw
