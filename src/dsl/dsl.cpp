#include "dsl/dsl.h"

#include <algorithm>
#include <array>
#include <regex>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dsl/cpp.h"
#include "dsl/cpp_text.h"
#include "dsl/cuda.h"
#include "dsl/kernelbench.h"
#include "dsl/opencl.h"
#include "dsl/opencl_header.h"
#include "dsl/problem_header.h"
#include "dsl/python_kernel.h"

namespace kw {
namespace {

Result<std::vector<std::string>> flags_of_cpp(const CompileOptions&) { return cpp_flags(); }

std::string declaration_of_cpp(const ProblemDescription& problem) { return kernel_declaration(problem, false); }
std::string declaration_of_cuda(const ProblemDescription& problem) { return kernel_declaration(problem, false, EntryPoint::cuda); }
std::string declaration_of_module(const ProblemDescription&) { return "class ModelNew(torch.nn.Module), with Model's arguments"; }

constexpr std::array kDsls{
    Dsl{"cpp", ".cpp", Venue::host, compile_cpp, cpp_compiler_version, flags_of_cpp, declaration_of_cpp},
    Dsl{"cuda-c", ".cu", Venue::virtual_gpu, compile_cuda_c, cuda_compiler_version, cuda_c_flags, declaration_of_cuda},
    Dsl{"cute", ".cu", Venue::virtual_gpu, compile_cute, cuda_compiler_version, cute_flags, declaration_of_cuda},
    Dsl{"triton", ".py", Venue::virtual_gpu, compile_triton, triton_version, triton_flags, launch_declaration},
    Dsl{"tilelang", ".py", Venue::virtual_gpu, compile_tilelang, tilelang_version, tilelang_flags, launch_declaration},
    Dsl{"opencl", ".cl", Venue::host, compile_opencl, opencl_compiler_version, opencl_flags, opencl_declaration},
    Dsl{"kernelbench", ".py", Venue::host, compile_kernelbench, kernelbench_version, kernelbench_flags, declaration_of_module},
};

bool includes_cute(std::string_view text) {
  const auto includes = include_lines(text);
  return std::any_of(includes.begin(), includes.end(),
                     [](const auto& each) { return each.name.rfind("cute/", 0) == 0 || each.name.rfind("cutlass/", 0) == 0; });
}

// Whether a line of Python imports a package or a part of it.
bool imports(std::string_view text, const std::string& package) {
  static const auto pattern = [](const std::string& name) { return std::regex("^\\s*(import|from)\\s+" + name + "\\b"); };
  const std::regex wanted = pattern(package);
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);)
    if (std::regex_search(line, wanted)) return true;
  return false;
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
    if (dsl->extension == ".py" && !imports(text, std::string(chosen)))
      return bad_input(fmt::format("{} does not import {}", kernel_file.string(), chosen),
                       "name the DSL that it is written in, or leave --dsl out");
    return dsl;
  }
  if (kernel_file.extension() == ".cu") return dsl_named(includes_cute(text) ? "cute" : "cuda-c");
  if (kernel_file.extension() == ".py") {
    if (mentions_model_new(text)) return dsl_named("kernelbench");
    for (const char* name : {"tilelang", "triton"})
      if (imports(text, name)) return dsl_named(name);
    return bad_input(fmt::format("{} has no class ModelNew and imports neither triton nor tilelang", kernel_file.string()),
                     "a Python file is in KernelBench's form (docs/kernelbench-form.md), or has launch() in Triton or TileLang "
                     "(docs/kernel-contract.md)");
  }
  std::vector<std::string> known;
  for (const auto& dsl : kDsls) {
    if (kernel_file.extension() == dsl.extension) return &dsl;
    known.push_back(fmt::format("{} ({})", dsl.extension, dsl.name));
  }
  return bad_input(fmt::format("{}: no DSL goes with the extension '{}'", kernel_file.string(), kernel_file.extension().string()),
                   fmt::format("known extensions: {}", fmt::join(known, ", ")));
}

}  // namespace kw
