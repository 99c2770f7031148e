// Writes problem.h: the shapes of a problem as constants and the exact declaration of the kernel's entry points.
// It is force-included before a kernel's own text, so a wrong signature is a compile error with a line.
#pragma once

#include <string>

#include "record/contract.h"

namespace kw {

std::string problem_header(const ProblemDescription& problem);

// The kernel's declaration alone, for people and error messages.
std::string kernel_declaration(const ProblemDescription& problem, bool with_state);

}  // namespace kw
