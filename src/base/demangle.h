// Names of C++ as people wrote them.
#pragma once

#include <string>

namespace kw {

// "saxpy(int, float*)" of "_Z5saxpyiPf"; what is no such name stays as it is.
std::string demangled(const std::string& symbol);
// "saxpy" of "saxpy(int, float*)": a line has no room for parameters.
std::string without_parameters(const std::string& demangled_name);

}  // namespace kw
