// problem.h of OpenCL C: shapes as macros, which the preprocessor and launch lines see too, and the types of 16 bits.
#pragma once

#include <map>
#include <string>

#include "record/opencl_contract.h"

namespace kw {

std::string opencl_header(const ProblemDescription& problem);

// The numbers that problem.h defines: x_numel, x_dim0, x_stride0, ...
std::map<std::string, std::int64_t> opencl_constants(const ProblemDescription& problem);

// A kernel that takes everything, and its launch line, for people and error messages.
std::string opencl_declaration(const ProblemDescription& problem);

}  // namespace kw
