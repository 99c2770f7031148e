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

}  // namespace kw
