// Finds the kernel's line behind a crash: from the program counter, or by running the call again under a sanitizer.
#pragma once

#include "dsl/candidate.h"
#include "dsl/session.h"
#include "problem/tensor_sets.h"

namespace kw {

// Adds what it finds to the failure's diagnosis; leaves it alone where nothing more can be told.
void explain_crash(RunFailure& failure, const Candidate& candidate, const ProblemDescription& problem, const TensorSet& set,
                   const SessionOptions& options);

// The first complaint of AddressSanitizer or UBSan in a process's output, and the kernel's line in it.
struct SanitizerFinding {
  std::string what;  // "heap-buffer-overflow", "index 64 out of bounds for type 'float [64]'"
  int line = 0;      // in the kernel; 0 when unknown
};
std::optional<SanitizerFinding> read_sanitizer(const std::string& output);

}  // namespace kw
