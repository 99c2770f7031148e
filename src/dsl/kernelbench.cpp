#include "dsl/kernelbench.h"

#include <algorithm>
#include <array>
#include <regex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/demangle.h"
#include "dsl/allowed_imports.h"
#include "dsl/elf_symbols.h"
#include "dsl/python_box.h"
#include "dsl/python_guest.h"
#include "dsl/torch_blank.h"
#include "problem/oracle_client.h"
#include "problem/problem_source.h"
#include "vgpu/gpu_sheet.h"
#include "vgpu/toolkit.h"

namespace kw {
namespace {

// PyTorch's headers alone take most of the time that other kernels are given.
constexpr std::chrono::milliseconds kUsualDeadline{120000}, kDeadline{600000};

// Ways to find functions that an extension may not link with; everything else that it imports has to be on the list of what it may.
constexpr std::array<std::string_view, 10> kFindsFunctions{"dlopen", "dlmopen",         "dlsym",    "dlvsym",          "dlinfo",
                                                           "dladdr", "dl_iterate_phdr", "_r_debug", "_dl_find_object", "dladdr1"};

// The first import that an extension may not have, and what is wrong with it.
Result<std::optional<std::string>> objection_to(const ElfSymbols& symbols) {
  KW_TRY(const auto* runtime, runtime_names());
  for (const auto& symbol : symbols.imported) {
    const std::string name = demangled(symbol);
    const std::string shown = name.substr(0, name.find('('));
    if (std::find(kFindsFunctions.begin(), kFindsFunctions.end(), symbol) != kFindsFunctions.end())
      return std::optional(fmt::format("a way to find functions: {}", shown));
    if (runtime->contains(symbol) || is_linkers_own(symbol) || is_python_extension_name(symbol)) continue;
    const auto names = leading_names(symbol, 1);
    return std::optional(fmt::format(
        "{}: {}", !names.empty() && names[0] == "at" ? "a kernel of PyTorch's" : "a library that it may not use", shown));
  }
  return std::optional<std::string>{};
}

// Graphs of these operations alone are done when data has been copied.
bool only_moves_data(const ProblemDescription& problem) {
  static const std::regex moves(
      R"(aten\.(view|reshape|permute|transpose|t|expand|clone|contiguous|slice|select|unsqueeze|squeeze|flatten|unflatten|narrow|split\w*|chunk|unbind|copy|_to_copy|to|cat|stack|repeat|tile|movedim|swapaxes|swapdims|mT|_unsafe_view|alias|detach|as_strided|unfold)\..*|.*getitem)");
  if (!problem.graph.is_object() || !problem.graph.contains("nodes")) return false;
  const auto& nodes = problem.graph.at("nodes");
  return std::all_of(nodes.begin(), nodes.end(), [](const Json& node) {
    return node.value("kind", "") != "call" || std::regex_match(node.value("op", ""), moves);
  });
}

bool is_object(const fs::path& file) {
  const auto text = read_file(file);
  return text && text->starts_with(
                     "\x7f"
                     "ELF");
}

// By link, not by text.
Result<std::optional<Diagnosis>> screen_extensions(const fs::path& folder) {
  std::error_code gone;
  for (auto each = fs::recursive_directory_iterator(folder, gone); each != fs::recursive_directory_iterator();
       each.increment(gone)) {
    if (gone || !each->is_regular_file(gone) || each->path().extension() == ".o" || !is_object(each->path())) continue;
    KW_TRY(const ElfSymbols symbols, elf_symbols(each->path()));
    KW_TRY(const auto objection, objection_to(symbols));
    if (!objection) continue;
    return std::optional(Diagnosis{"screen",
                                   fmt::format("the extension '{}' links with {}", each->path().stem().string(), *objection),
                                   "",
                                   {},
                                   "compute it in the kernel; PyTorch's operators are called as at::name(), with --allow-torch",
                                   ""});
  }
  return std::optional<Diagnosis>{};
}

std::vector<std::string> first_look_notes(const Json& outcome) {
  if (!outcome.contains("kernelguard")) return {};
  const Json& look = outcome.at("kernelguard");
  if (!look.is_object())
    return {"the static first look was left out: kernelguard is not installed (pip install kernelguard==0.3.2)"};
  const auto rules = look.value("rules", std::vector<std::string>{});
  if (rules.empty()) return {};
  return {fmt::format("a first look at the text (kernelguard): {}; the verdict does not rest on it", fmt::join(rules, ", "))};
}

}  // namespace

bool mentions_model_new(std::string_view text) { return std::regex_search(std::string(text), std::regex(R"(\bModelNew\b)")); }

bool imports_triton(std::string_view text) {
  return std::regex_search(std::string(text), std::regex(R"((^|\n)[ \t]*(import|from)[ \t]+triton\b)"));
}

Result<std::string> kernelbench_version() {
  KW_TRY(const std::string python, oracle_python());
  return "torch " + torch_version_on_disk(python);
}

Result<std::vector<std::string>> kernelbench_flags(const CompileOptions& options) {
  std::vector<std::string> flags;
  if (options.allow_torch) flags.emplace_back("--allow-torch");
  if (!options.gpu.empty()) flags.push_back("(for " + options.gpu + ")");
  return flags;
}

Result<CompileOutcome> compile_kernelbench(const ProblemDescription& problem, const KernelSource& source, const fs::path& folder,
                                           const CompileOptions& options) {
  if (problem.call.is_null())
    return bad_input(
        fmt::format("{}: how Model is built or called cannot be told to another process", problem.file),
        "get_init_inputs() and get_inputs() give numbers, strings, tensors (inputs only), and lists, tuples or dicts of them");
  if (!source.knobs.empty()) return bad_input("a file with ModelNew has no knobs", "leave --knob out");
  PythonBuild build;
  build.folder = fs::canonical(folder).string();
  build.file = source.file;
  build.triton = imports_triton(source.text);
  build.allow_torch = options.allow_torch;
  build.movement_is_work = only_moves_data(problem);
  CompiledKernel kernel;
  if (!build.allow_torch) {
    KW_TRY(build.blank, blank_torch());
    if (!build.blank)
      kernel.notes.emplace_back(
          "PyTorch's library has no table of symbols: its kernels below the dispatcher are refused by link, but were not taken out "
          "of memory");
  }
  std::optional<SessionGpu> gpu;
  if (build.triton) {
    KW_TRY(const vgpu::GpuSheet sheet,
           vgpu::load_gpu_sheet(options.gpu.empty() ? vgpu::kDefaultGpu : std::string_view(options.gpu)));
    KW_TRY(const fs::path library, vgpu::find_cudart_library());
    kernel.gpu =
        GpuBuild{options.gpu.empty() ? std::string(vgpu::kDefaultGpu) : options.gpu, fs::canonical(library).string(), "{}", ""};
    gpu = SessionGpu{*kernel.gpu, false, false, 0};
  }
  Json task = python_section(problem, build, gpu);
  task["warm"] = build.triton || source.text.find("cpp_extension") != std::string::npos;
  KW_CHECK(make_folders(folder / "extensions"));
  KW_CHECK(make_folders(folder / "triton"));
  KW_CHECK(write_file_atomically(folder / "task.json", task.dump()));
  KW_CHECK(write_file_atomically(folder / "candidate.py", source.text));

  KW_TRY(sandbox::Spec box, python_box(build, kernel.gpu ? kernel.gpu->library : "", PythonLife::building));
  box.limits.deadline = options.deadline == kUsualDeadline ? kDeadline : options.deadline;
  box.limits.memory_bytes = kPythonMemory;
  KW_TRY(const sandbox::Outcome outcome, sandbox::run(box, options.mode));
  kernel.seconds = outcome.seconds;
  if (outcome.timed_out)
    return CompileOutcome::failed(
        Verdict::timed_out,
        {"compile",
         fmt::format("loading the file did not end within {:.3g} s", std::chrono::duration<double>(box.limits.deadline).count()),
         "",
         {},
         "look for a loop that does not end, or give the compiler more time with --compile-timeout",
         ""});
  std::optional<Json> told;
  if (const auto text = read_file(folder / "outcome.json"))
    if (auto json = parse_json(*text, "outcome.json"); json && json->is_object()) told = *json;
  if (!told) {
    RunFailure failure;
    failure.errors = outcome.err;
    failure.verdict = outcome.memory_exceeded ? Verdict::out_of_memory : Verdict::crashed;
    failure.diagnosis = {"load", "the process ended while the file was being loaded", "",
                         {},     "a file defines ModelNew; it never exits",           ""};
    if (const auto at = outcome.err.find_last_not_of(" \n"); at != std::string::npos) {
      const std::string text = outcome.err.substr(0, at + 1);
      failure.diagnosis.evidence.push_back(text.substr(text.rfind('\n') + 1).substr(0, 300));
    }
    explain_python_end(failure, source.file);
    return CompileOutcome::failed(failure.verdict, failure.diagnosis);
  }
  if (told->contains("fault")) {
    auto failure = read_fields("outcome.json", [&] { return failure_from_fault(told->at("fault"), "load"); });
    if (!failure) return internal_error("the guest's outcome cannot be read: " + failure.error().message);
    return CompileOutcome::failed(failure->verdict, failure->diagnosis);
  }
  if (!options.allow_torch) {
    KW_TRY(const auto objection, screen_extensions(folder));
    if (objection) return CompileOutcome::failed(Verdict::forbidden, *objection);
  }
  kernel.object = (fs::path(build.folder) / "candidate.py").string();
  kernel.has_prepare = true;
  kernel.python = std::move(build);
  auto notes = read_fields("outcome.json", [&] { return first_look_notes(*told); });
  if (notes) kernel.notes.insert(kernel.notes.end(), notes->begin(), notes->end());
  CompileOutcome compiled;
  compiled.verdict = Verdict::passed;
  compiled.kernel = std::move(kernel);
  return compiled;
}

}  // namespace kw
