#include "base/demangle.h"

#include <cxxabi.h>

#include <cstdlib>

namespace kw {

std::string demangled(const std::string& symbol) {
  int status = 0;
  char* readable = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string text = status == 0 && readable != nullptr ? readable : symbol;
  std::free(readable);  // NOLINT: __cxa_demangle gives malloc's memory
  return text;
}

std::string without_parameters(const std::string& demangled_name) {
  std::size_t begin = demangled_name.starts_with("void ") ? 5 : 0, end = demangled_name.size();
  int depth = 0;
  if (!demangled_name.empty() && demangled_name.back() == ')')
    for (std::size_t at = demangled_name.size(); at-- > begin;) {
      depth += demangled_name[at] == ')' ? 1 : demangled_name[at] == '(' ? -1 : 0;
      if (depth == 0) {
        end = at;
        break;
      }
    }
  return end > begin ? demangled_name.substr(begin, end - begin) : demangled_name;
}

}  // namespace kw
