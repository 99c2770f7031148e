#include "dsl/cpp.h"

#include <sstream>

#include <fmt/format.h>

#include "base/subprocess.h"
#include "dsl/compiler_errors.h"
#include "dsl/cpp_screen.h"
#include "dsl/cpp_text.h"
#include "dsl/precompiled.h"
#include "dsl/problem_header.h"

namespace kw {
namespace {

constexpr std::uint64_t kCompilerMemory = std::uint64_t{6} << 30;

// The compiler's run, with headers that are read already or without.
Result<sandbox::Spec> compiling(const std::string& compiler, const KernelSource& source, const CompiledKernel& kernel,
                                const fs::path& folder, const CompileOptions& options, const std::optional<fs::path>& headers) {
  sandbox::Spec box = cpp_compiler_box(compiler, folder, options);
  auto& argv = box.argv;
  for (const auto& flag : cpp_flags()) argv.push_back(flag);
  if (options.debug) argv.insert(argv.end(), {"-O1", "-g", "-fsanitize=address,undefined", "-fno-omit-frame-pointer"});
  if (options.lines) argv.push_back("-g1");
  for (const auto& [name, value] : source.knobs) {
    if (!is_identifier(name)) return bad_input(fmt::format("'{}' is not the name of a knob", name), "write --knob NAME=VALUE");
    argv.push_back(fmt::format("-D{}={}", name, value));
  }
  if (kernel.has_prepare) argv.push_back("-DKW_HAS_PREPARE");
  if (headers) {
    box.read_only.push_back({headers->parent_path().string(), ""});
    argv.insert(argv.end(), {"-include", headers->string()});
  }
  argv.insert(argv.end(), {"-DKW_RUNNER_ENTRY", "-include", "problem.h", "-I.", "-w", "-fdiagnostics-color=never",
                           "-fno-diagnostics-show-caret", "-fmax-errors=10", "-MD", "-MF", "kernel.d", "-shared", "-Wl,-z,now"});
  if (!options.debug) argv.push_back("-Wl,-z,defs");  // a sanitizer's functions come from the process
  argv.insert(argv.end(), {"kernel.cpp", "-o", "kernel.so"});
  return box;
}

}  // namespace

sandbox::Spec cpp_compiler_box(const std::string& compiler, const fs::path& folder, const CompileOptions& options) {
  sandbox::Spec box;
  box.argv = {compiler};
  box.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"LC_ALL", "C"}};
  for (const char* system : {"/usr", "/lib", "/lib64", "/bin"})
    if (fs::exists(system)) box.read_only.push_back({system, ""});
  box.read_write.push_back({folder.string(), ""});
  box.folder = folder.string();
  options.bound(box.limits);
  box.limits.memory_bytes = kCompilerMemory;
  box.limits.file_bytes = 256 << 20;
  box.limits.processes = 64;
  return box;
}

std::vector<std::string> cpp_flags() {
  return {"-std=c++20",         "-O3",   "-march=native",      "-fopenmp", "-fno-math-errno",
          "-fno-trapping-math", "-fPIC", "-fvisibility=hidden"};
}

Result<std::string> cpp_compiler() {
  const char* chosen = std::getenv("KERNELWRIGHT_CXX");
  const std::string name = chosen && *chosen ? chosen : "g++";
  const std::string found = find_program(name);
  if (found.empty())
    return bad_input(fmt::format("the compiler '{}' is not installed", name), "apt-get install g++, or set KERNELWRIGHT_CXX");
  return found;
}

Result<std::string> cpp_compiler_version() {
  static std::map<std::string, std::string> known;  // per process: a compiler does not change under a run
  KW_TRY(const std::string compiler, cpp_compiler());
  if (const auto it = known.find(compiler); it != known.end()) return it->second;
  KW_TRY(const CommandOutcome outcome, run_command({{compiler, "--version"}, {}, "", std::chrono::seconds(10), 4096}));
  if (!outcome.succeeded()) return bad_input(fmt::format("{} --version failed", compiler), "reinstall the compiler");
  return known[compiler] = outcome.out.substr(0, outcome.out.find('\n'));
}

std::optional<Diagnosis> screen_cpp(const KernelSource& source) { return screen_includes(source); }

Result<CompileOutcome> compile_cpp(const ProblemDescription& problem, const KernelSource& source, const fs::path& folder,
                                   const CompileOptions& options) {
  if (auto objection = screen_cpp(source)) return CompileOutcome::failed(Verdict::forbidden, *objection);
  KW_TRY(const std::string compiler, cpp_compiler());
  KW_CHECK(write_file_atomically(folder / "problem.h", problem_header(problem)));
  KW_CHECK(write_file_atomically(folder / "kernel.cpp", source.text));

  CompiledKernel kernel;
  kernel.has_prepare = mentions_identifier(source.text, "kw_prepare");
  kernel.object = (folder / "kernel.so").string();
  const auto headers = precompiled_headers(source, compiler, options);
  KW_TRY(sandbox::Spec box, compiling(compiler, source, kernel, folder, options, headers));
  KW_TRY(sandbox::Outcome outcome, sandbox::run(box, options.mode));
  if (headers && !outcome.succeeded() && !ran_out_of_time(outcome)) {  // what is wrong is said as without them
    KW_TRY(box, compiling(compiler, source, kernel, folder, options, std::nullopt));
    KW_TRY(outcome, sandbox::run(box, options.mode));
  }
  kernel.seconds = outcome.seconds;
  if (ran_out_of_time(outcome)) return compiler_out_of_time(options, "look for unbounded templates or constant expressions");
  const bool compiler_died = outcome.signal != 0 || outcome.memory_exceeded;
  if (compiler_died)
    return CompileOutcome::failed(Verdict::compile_failed,
                                  {"compile",
                                   "the compiler ran out of memory or crashed",
                                   "",
                                   {},
                                   "the kernel is too large for the compiler: fewer templates, smaller tables",
                                   ""});
  if (!outcome.succeeded())
    return CompileOutcome::failed(
        Verdict::compile_failed, digest_compiler_errors(outcome.err, source.file, kernel_declaration(problem, kernel.has_prepare)));

  if (!fs::exists(folder / "kernel.d") || !fs::exists(kernel.object))
    return bad_input(fmt::format("{} said that it succeeded but wrote nothing", compiler),
                     "set KERNELWRIGHT_CXX to a C++ compiler such as g++");
  KW_TRY(const std::string dependencies, read_file(folder / "kernel.d"));
  if (auto objection = screen_dependencies(dependencies, folder.string()))
    return CompileOutcome::failed(Verdict::forbidden, *objection);
  if (!options.debug) {
    KW_TRY(const auto objection, screen_object(kernel.object));
    if (objection) return CompileOutcome::failed(Verdict::forbidden, *objection);
  }
  CompileOutcome compiled;
  compiled.verdict = Verdict::passed;
  compiled.kernel = kernel;
  return compiled;
}

std::string line_of(const std::string& object, std::uint64_t offset) {
  auto outcome = run_command({{"addr2line", "-e", object, fmt::format("{:#x}", offset)}, {}, "", std::chrono::seconds(10), 4096});
  if (!outcome || !outcome->succeeded()) return "";
  std::string line = outcome->out.substr(0, outcome->out.find('\n'));
  if (const std::size_t discriminator = line.find(" (discriminator"); discriminator != std::string::npos)
    line.resize(discriminator);
  if (line.empty() || line[0] == '?' || line.back() == '?' || line.substr(line.size() - 2) == ":0") return "";
  return line.substr(line.rfind('/') + 1);
}

std::vector<DeclaredKnob> declared_knobs(const std::string& text) {
  std::vector<DeclaredKnob> knobs;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    constexpr std::string_view kMark = " kw:knob ";
    const std::size_t at = line.find(kMark);
    if (at == std::string::npos || at == 0 || (line[at - 1] != '/' && line[at - 1] != '#')) continue;
    std::istringstream words(line.substr(at + kMark.size()));
    DeclaredKnob knob;
    words >> knob.name;
    for (std::string value; words >> value;) knob.values.push_back(value);
    if (is_identifier(knob.name) && !knob.values.empty()) knobs.push_back(knob);
  }
  return knobs;
}

}  // namespace kw
