// How the contract spells a kernel's arguments in C++: the types, and when a struct stands for them all.
#pragma once

#include <string>
#include <string_view>

#include "record/problem.h"

namespace kw {

std::string_view c_type(DType dtype);  // as it is in memory: "float", "kw_bf16", "bool"

// The type of one argument: outputs are written, scalars go by value, the rest is read-only.
std::string argument_type(const TensorSpec& spec);

// Past this many arguments the contract passes one struct instead.
inline constexpr std::size_t kMaxPlainArguments = 16;
bool passes_struct(const ProblemDescription& problem);

}  // namespace kw
