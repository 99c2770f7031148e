#include "dsl/dsl.h"

#include <array>

#include <fmt/format.h>

#include "dsl/cpp.h"

namespace kw {
namespace {

constexpr std::array<Dsl, 1> kDsls{{
    {"cpp", ".cpp", compile_cpp, cpp_compiler_version, cpp_flags},
}};

}  // namespace

Result<const Dsl*> dsl_of_file(const fs::path& kernel_file) {
  std::string known;
  for (const auto& dsl : kDsls) {
    if (kernel_file.extension() == dsl.extension) return &dsl;
    known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", dsl.extension, dsl.name);
  }
  return bad_input(fmt::format("{}: no DSL goes with the extension '{}'", kernel_file.string(), kernel_file.extension().string()),
                   fmt::format("known extensions: {}", known));
}

}  // namespace kw
