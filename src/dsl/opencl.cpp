#include "dsl/opencl.h"

#include <algorithm>
#include <array>
#include <regex>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/subprocess.h"
#include "dsl/compiler_errors.h"
#include "dsl/cpp_text.h"
#include "dsl/elf_symbols.h"
#include "dsl/opencl_header.h"
#include "dsl/opencl_launch.h"

namespace kw {
namespace {

constexpr std::uint64_t kOpenClCompilerMemory = std::uint64_t{6} << 30;
constexpr std::string_view kOpenClFlags = "-cl-std=CL1.2 -cl-kernel-arg-info";
// Work-groups are compiled apart for ranges below this size.
constexpr std::uint64_t kSmallRange = 0xffff;

Result<std::string> compiler_program() {
  std::string program = (executable_folder() / "kw-clc").string();
  if (!fs::exists(program)) return internal_error(fmt::format("{} is missing", program), "build the project again: make build");
  return program;
}

// What the device says of itself, asked once: it does not change under a run.
Result<Json> device_facts() {
  static std::map<std::string, Json> known;
  const char* chosen = std::getenv("KERNELWRIGHT_OPENCL_DEVICE");
  const std::string key = chosen != nullptr ? chosen : "";
  if (const auto it = known.find(key); it != known.end()) return it->second;
  KW_TRY(const std::string program, compiler_program());
  KW_TRY(TempFolder folder, TempFolder::make("kw-opencl"));
  KW_TRY(const CommandOutcome outcome,
         run_command({{program, "describe"}, {{"POCL_CACHE_DIR", folder.path().string()}}, "", std::chrono::seconds(60), 1 << 16}));
  if (!outcome.succeeded()) {
    const std::size_t at = outcome.err.find("kw-clc: ");
    std::string message = at == std::string::npos ? "OpenCL does not start" : outcome.err.substr(at + 8);
    const std::size_t end = std::min(message.find('\n'), message.size());
    std::string hint = end + 1 < message.size() ? message.substr(end + 1, message.find('\n', end + 1) - end - 1) : "";
    return bad_input(message.substr(0, end), hint.empty() ? "apt-get install pocl-opencl-icd" : hint);
  }
  KW_TRY(Json facts, parse_json(outcome.out.substr(outcome.out.find('{')), "what kw-clc describe says"));
  return known[key] = std::move(facts);
}

// The folders of the runtime's libraries under their real names: a runtime finds its own files from where it was loaded, and a
// link such as /lib is a folder of its own in the sandbox.
std::string library_folders(const Json& device) {
  std::set<std::string> folders;
  std::error_code ignored;
  for (const auto& file : device.at("libraries"))
    if (const fs::path real = fs::canonical(fs::path(file.get<std::string>()).parent_path(), ignored); !real.empty())
      folders.insert(real.string());
  return fmt::format("{}", fmt::join(folders, ":"));
}

// What the runtime needs to see of the system, beside the files that it loads.
std::vector<std::string> system_files() {
  std::vector<std::string> files;
  for (const char* each : {"/etc/OpenCL", "/etc/ld.so.cache", "/sys/devices/system"})
    if (fs::exists(each)) files.emplace_back(each);
  return files;
}

// The runner compiles nothing: work-groups of the sizes that are launched go into the binary. A size is taken once in a pass, so
// that one which is launched over small and large ranges needs two of them; the second finds what the first has made.
std::vector<std::string> sizes_to_compile(const OpenClLaunches& launches) {
  std::set<std::string> of_small, of_large;
  for (const OpenClLaunch& each : launches.launches) {
    const bool small = std::all_of(each.global.begin(), each.global.end(), [](std::uint64_t size) { return size < kSmallRange; });
    (small ? of_small : of_large).insert(fmt::format("{}-goffs0", fmt::join(each.local, "-")));
  }
  std::vector<std::string> passes;
  if (!of_large.empty()) passes.push_back(fmt::format("{}", fmt::join(of_large, ",")));
  if (!of_small.empty()) passes.push_back(fmt::format("{}-smallgrid", fmt::join(of_small, "-smallgrid,")));
  const bool apart =
      std::none_of(of_small.begin(), of_small.end(), [&](const std::string& size) { return of_large.contains(size); });
  if (apart && passes.size() == 2) passes = {passes[0] + "," + passes[1]};
  return passes;
}

Result<sandbox::Spec> compiler_box(const fs::path& folder, const Json& device, const CompileOptions& options) {
  sandbox::Spec box;
  KW_TRY(const std::string program, compiler_program());
  box.argv = {program, "compile", "source.cl", "program.bin", "facts.json"};
  box.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"},
                     {"LC_ALL", "C"},
                     {"HOME", folder.string()},
                     {"POCL_CACHE_DIR", (folder / "cache").string()},
                     {"POCL_MAX_PTHREAD_COUNT", "1"},
                     {"LD_LIBRARY_PATH", library_folders(device)}};
  if (const char* chosen = std::getenv("KERNELWRIGHT_OPENCL_DEVICE")) box.environment["KERNELWRIGHT_OPENCL_DEVICE"] = chosen;
  for (const char* system : {"/usr", "/lib", "/lib64", "/bin"})
    if (fs::exists(system)) box.read_only.push_back({system, ""});
  for (const std::string& file : system_files()) box.read_only.push_back({file, ""});
  box.read_only.push_back({program, ""});
  box.read_write.push_back({folder.string(), ""});
  box.folder = folder.string();
  box.dev_null = true;
  box.limits.deadline = options.deadline;
  box.limits.memory_bytes = kOpenClCompilerMemory;
  box.limits.file_bytes = 256 << 20;
  box.limits.processes = 64;
  return box;
}

Diagnosis refused(const KernelSource& source, int line, std::string summary, std::string hint) {
  return {"screen", std::move(summary), line > 0 ? fmt::format("{}:{}", source.file, line) : "", {}, std::move(hint), ""};
}

int line_of_word(const std::string& text, std::string_view word) {
  const std::string code = code_only(text);
  int line = 1;
  for (std::size_t start = 0; start <= code.size(); ++line) {
    const std::size_t end = std::min(code.find('\n', start), code.size());
    if (mentions_identifier(std::string_view(code).substr(start, end - start), word)) return line;
    start = end + 1;
  }
  return 0;
}

std::optional<Diagnosis> screen_opencl(const KernelSource& source) {
  for (const auto& include : include_lines(source.text))
    if (include.name != "problem.h")
      return refused(source, include.line, fmt::format("the kernel includes '{}'", include.name),
                     "OpenCL C has its functions built in; problem.h is all that may be included");
  struct Word {
    std::string_view name, why;
  };
  static constexpr std::array kWords{
      Word{"printf", "a kernel writes its outputs and nothing else"},
      Word{"asm", "machine code of your own is not OpenCL C"},
      Word{"__asm", "machine code of your own is not OpenCL C"},
      Word{"__asm__", "machine code of your own is not OpenCL C"},
      Word{"read_pipe", "pipes reach outside of the launch lines"},
      Word{"write_pipe", "pipes reach outside of the launch lines"},
      Word{"enqueue_kernel", "launch lines say what is launched"},
      Word{"constructor", "code that runs by itself is no part of a launch"},
      Word{"destructor", "code that runs by itself is no part of a launch"},
      Word{"__constructor__", "code that runs by itself is no part of a launch"},
      Word{"__destructor__", "code that runs by itself is no part of a launch"},
  };
  for (const Word& word : kWords)
    if (mentions_identifier(source.text, word.name))
      return refused(source, line_of_word(source.text, word.name), fmt::format("the kernel uses {}", word.name),
                     std::string(word.why));
  return std::nullopt;
}

// By link: OpenCL C's functions are compiled in, so that what is left may only be memory and mathematics.
Result<std::optional<Diagnosis>> screen_code(const KernelSource& source, const std::vector<std::string>& objects) {
  static const std::set<std::string> memory{"memcpy", "memmove", "memset", "memcmp", "bcmp", "_GLOBAL_OFFSET_TABLE_"};
  static const std::set<std::string> maths{
      "acos",  "acosh", "asin",   "asinh", "atan",      "atan2",     "atanh",  "cbrt",      "ceil",   "cos",
      "cosh",  "erf",   "erfc",   "exp",   "exp10",     "exp2",      "expm1",  "fabs",      "floor",  "fma",
      "fmax",  "fmin",  "fmod",   "frexp", "hypot",     "ldexp",     "lgamma", "lgamma_r",  "log",    "log10",
      "log1p", "log2",  "logb",   "modf",  "nearbyint", "nextafter", "pow",    "remainder", "remquo", "rint",
      "round", "sin",   "sincos", "sinh",  "sqrt",      "tan",       "tanh",   "tgamma",    "trunc"};
  for (const std::string& object : objects) {
    KW_TRY(const ElfSymbols symbols, elf_symbols(object));
    for (const std::string& name : symbols.imported) {
      const std::string wide = !name.empty() && name.back() == 'f' ? name.substr(0, name.size() - 1) : name;
      if (name.empty() || memory.contains(name) || maths.contains(name) || maths.contains(wide)) continue;
      return std::optional(refused(source, line_of_word(source.text, name),
                                   fmt::format("the kernel calls {}, which OpenCL C does not have", name),
                                   "define the function in the file, or use one that is built in"));
    }
  }
  return std::optional<Diagnosis>{};
}

// The machine code of the launched kernels, where the compiler left it. Other runtimes than PoCL leave none.
std::vector<std::string> code_of(const fs::path& cache, const opencl::LaunchPlan& plan) {
  std::set<std::string> found;
  std::error_code ignored;
  for (auto it = fs::recursive_directory_iterator(cache, ignored); it != fs::recursive_directory_iterator();
       it.increment(ignored)) {
    if (it->path().extension() != ".so") continue;
    for (const opencl::Launch& launch : plan.launches)
      if (it->path().stem() == launch.kernel &&
          it->path().parent_path().filename().string().starts_with(fmt::format("{}-", fmt::join(launch.local, "-"))))
        found.insert(it->path().string());
  }
  return {found.begin(), found.end()};
}

// PoCL says "error: kernel.cl:3:5: ..." where compilers say "kernel.cl:3:5: error: ...".
Diagnosis digest_opencl_errors(const std::string& log, const KernelSource& source, const ProblemDescription& problem) {
  static const std::regex said(R"((^|\n)(error|warning): ([^:\n]+:\d+:\d+): )");
  Diagnosis d =
      digest_compiler_errors(std::regex_replace(log, said, "$1$3: $2: "), source.file, opencl_declaration(problem), "kernel.cl");
  static const std::regex unlinked(R"(Cannot find symbol (\w+) in kernel library)");
  if (std::smatch found; std::regex_search(log, found, unlinked)) {
    const std::string name = found[1].str();
    return refused(source, line_of_word(source.text, name), fmt::format("the kernel calls {}, which OpenCL C does not have", name),
                   "define the function in the file, or use one that is built in");
  }
  if (d.hint.empty() && d.summary.find("undeclared identifier") != std::string::npos)
    d.hint = "problem.h has scalar constants such as x_numel and x_dim0; a tensor is a parameter of each kernel that uses it";
  if (d.hint.empty() && d.summary.find("address space") != std::string::npos)
    d.hint = "say __global, __local or __private of a pointer in every function that it goes through";
  return d;
}

}  // namespace

Result<std::string> opencl_compiler_version() {
  KW_TRY(const Json facts, device_facts());
  return fmt::format("{} on {}", facts.value("version", "OpenCL"), facts.value("device", "a device"));
}

Result<std::vector<std::string>> opencl_flags(const CompileOptions&) { return std::vector<std::string>{std::string(kOpenClFlags)}; }

Result<CompileOutcome> compile_opencl(const ProblemDescription& problem, const KernelSource& source, const fs::path& folder,
                                      const CompileOptions& options) {
  if (auto objection = screen_opencl(source)) return CompileOutcome::failed(Verdict::forbidden, *objection);
  const auto launches = read_launches(problem, source);
  if (!launches.value) return CompileOutcome::failed(Verdict::compile_failed, launches.diagnosis);
  KW_TRY(const Json device, device_facts());
  const std::string header = opencl_header(problem);
  KW_CHECK(write_file_atomically(folder / "problem.h", header));
  KW_CHECK(write_file_atomically(folder / "source.cl", header + "#line 1 \"kernel.cl\"\n" + source.text));
  KW_TRY(sandbox::Spec box, compiler_box(folder, device, options));
  std::string flags = fmt::format("{} -I.", kOpenClFlags);
  if (options.lines || options.debug) flags += " -g";
  for (const auto& [name, value] : source.knobs) {
    if (!is_identifier(name)) return bad_input(fmt::format("'{}' is not the name of a knob", name), "write --knob NAME=VALUE");
    flags += fmt::format(" -D {}={}", name, value);
  }
  box.argv.push_back(flags);

  CompiledKernel kernel;
  sandbox::Outcome outcome;
  for (const std::string& sizes : sizes_to_compile(*launches.value)) {
    box.environment["POCL_BINARY_SPECIALIZE_WG"] = sizes;
    KW_TRY(outcome, sandbox::run(box, options.mode));
    kernel.seconds += outcome.seconds;
    if (!outcome.succeeded()) break;
  }
  if (outcome.timed_out)
    return CompileOutcome::failed(Verdict::timed_out, {"compile",
                                                       fmt::format("the compiler did not finish within {:.3g} s",
                                                                   std::chrono::duration<double>(options.deadline).count()),
                                                       "",
                                                       {},
                                                       "unroll less, or give more time with --compile-timeout",
                                                       ""});
  if (outcome.signal != 0 || outcome.memory_exceeded)
    return CompileOutcome::failed(Verdict::compile_failed, {"compile",
                                                            "the compiler ran out of memory or crashed",
                                                            "",
                                                            {},
                                                            "unroll less; a work-group with fewer work-items is less code, too",
                                                            ""});
  if (outcome.exit_code == 2) return internal_error("kw-clc: " + outcome.err, "kernelwright doctor says what OpenCL needs");
  if (!outcome.succeeded())
    return CompileOutcome::failed(Verdict::compile_failed, digest_opencl_errors(outcome.err + outcome.out, source, problem));

  KW_TRY(const std::string said, read_file(folder / "facts.json"));
  KW_TRY(const Json facts, parse_json(said, "facts.json"));
  KW_TRY(const auto kernels, read_fields("facts.json", [&] { return facts.get<std::vector<opencl::KernelFacts>>(); }));
  auto plan = plan_launches(problem, source, *launches.value, kernels);
  if (!plan.value) return CompileOutcome::failed(Verdict::compile_failed, plan.diagnosis);
  OpenClBuild build;
  build.plan = std::move(*plan.value);
  build.files = system_files();
  for (const auto& file : device.at("libraries")) build.files.push_back(file.get<std::string>());
  build.code = code_of(folder / "cache", build.plan);
  KW_TRY(const auto objection, screen_code(source, build.code));
  if (objection) return CompileOutcome::failed(Verdict::forbidden, *objection);
  kernel.object = (folder / "program.bin").string();
  kernel.has_prepare =
      std::any_of(build.plan.launches.begin(), build.plan.launches.end(), [](const auto& each) { return each.prepare; });
  kernel.opencl = std::move(build);
  CompileOutcome compiled;
  compiled.verdict = Verdict::passed;
  compiled.kernel = std::move(kernel);
  return compiled;
}

}  // namespace kw
