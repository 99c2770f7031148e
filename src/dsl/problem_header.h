// Writes problem.h: the shapes of a problem as constants and the exact declaration of the kernel's entry points.
// It is force-included before a kernel's own text, so a wrong signature is a compile error with a line.
#pragma once

#include <string>

#include "record/contract.h"

namespace kw {

// CUDA: pointers are the device's, and a stream comes last.
enum class EntryPoint { cpp, cuda };

std::string problem_header(const ProblemDescription& problem, EntryPoint entry = EntryPoint::cpp);

// The kernel's declaration alone, for people and error messages.
std::string kernel_declaration(const ProblemDescription& problem, bool with_state, EntryPoint entry = EntryPoint::cpp);

}  // namespace kw
