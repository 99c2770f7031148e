#include "dsl/dsl.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dsl/cpp.h"
#include "dsl/cpp_text.h"
#include "dsl/cuda.h"

namespace kw {
namespace {

Result<std::vector<std::string>> flags_of_cpp(const CompileOptions&) { return cpp_flags(); }

constexpr std::array<Dsl, 3> kDsls{{
    {"cpp", ".cpp", false, compile_cpp, cpp_compiler_version, flags_of_cpp},
    {"cuda-c", ".cu", true, compile_cuda_c, cuda_compiler_version, cuda_c_flags},
    {"cute", ".cu", true, compile_cute, cuda_compiler_version, cute_flags},
}};

bool includes_cute(std::string_view text) {
  const auto includes = include_lines(text);
  return std::any_of(includes.begin(), includes.end(),
                     [](const auto& each) { return each.name.rfind("cute/", 0) == 0 || each.name.rfind("cutlass/", 0) == 0; });
}

}  // namespace

std::vector<std::string> dsl_names() {
  std::vector<std::string> names;
  for (const auto& dsl : kDsls) names.emplace_back(dsl.name);
  return names;
}

Result<const Dsl*> dsl_named(std::string_view name) {
  for (const auto& dsl : kDsls)
    if (dsl.name == name) return &dsl;
  return bad_input(fmt::format("there is no DSL '{}'", name), fmt::format("one of {}", fmt::join(dsl_names(), ", ")));
}

Result<const Dsl*> dsl_of(const fs::path& kernel_file, std::string_view text, std::string_view chosen) {
  if (!chosen.empty()) {
    KW_TRY(const Dsl* dsl, dsl_named(chosen));
    if (kernel_file.extension() != dsl->extension)
      return bad_input(fmt::format("{}: a kernel in {} is a {} file", kernel_file.string(), chosen, dsl->extension),
                       "rename the file, or leave --dsl out");
    return dsl;
  }
  if (kernel_file.extension() == ".cu") return dsl_named(includes_cute(text) ? "cute" : "cuda-c");
  std::vector<std::string> known;
  for (const auto& dsl : kDsls) {
    if (kernel_file.extension() == dsl.extension) return &dsl;
    known.push_back(fmt::format("{} ({})", dsl.extension, dsl.name));
  }
  return bad_input(fmt::format("{}: no DSL goes with the extension '{}'", kernel_file.string(), kernel_file.extension().string()),
                   fmt::format("known extensions: {}", fmt::join(known, ", ")));
}

}  // namespace kw
