#include "dsl/cpp_screen.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

#include <fmt/format.h>

#include "base/demangle.h"
#include "dsl/allowed_imports.h"
#include "dsl/cpp_text.h"
#include "dsl/elf_symbols.h"

namespace kw {
namespace {

struct ForbiddenImport {
  std::string_view name;  // a trailing * matches any rest
  std::string_view why;
};

constexpr std::string_view kLoads = "loading libraries at run time is not allowed: the kernel does the work itself";
constexpr std::string_view kProcess = "a kernel starts no processes";
constexpr std::string_view kFile = "a kernel opens no files";
constexpr std::string_view kSocket = "a kernel has no network";
constexpr std::string_view kThread = "threads come from OpenMP only";
constexpr std::string_view kSignal = "signals and timers are not a kernel's business";
constexpr std::string_view kExit = "a kernel returns; it never exits";
constexpr std::string_view kScheduler = "the schedule, the priority and the affinity are the evaluator's";
constexpr std::string_view kMemory = "protections of memory are the evaluator's";
constexpr std::string_view kSystem = "a kernel makes no system calls of its own";

// What a kernel's object may not ask of the libraries. Names are told apart exactly, so that a variable called `fork` or a
// comment about sockets is no offence.
constexpr std::array kForbiddenImports{
    ForbiddenImport{"dlopen", kLoads},
    ForbiddenImport{"dlmopen", kLoads},
    ForbiddenImport{"dlsym", kLoads},
    ForbiddenImport{"dlvsym", kLoads},
    ForbiddenImport{"dlinfo", kLoads},
    ForbiddenImport{"dladdr*", kLoads},
    ForbiddenImport{"dl_iterate_phdr", kLoads},
    ForbiddenImport{"system", kProcess},
    ForbiddenImport{"popen", kProcess},
    ForbiddenImport{"fork", kProcess},
    ForbiddenImport{"vfork", kProcess},
    ForbiddenImport{"_Fork", kProcess},
    ForbiddenImport{"clone", kProcess},
    ForbiddenImport{"exec*", kProcess},
    ForbiddenImport{"fexecve", kProcess},
    ForbiddenImport{"posix_spawn*", kProcess},
    ForbiddenImport{"open", kFile},
    ForbiddenImport{"open64", kFile},
    ForbiddenImport{"openat*", kFile},
    ForbiddenImport{"creat*", kFile},
    ForbiddenImport{"fopen*", kFile},
    ForbiddenImport{"freopen*", kFile},
    ForbiddenImport{"fdopen*", kFile},
    ForbiddenImport{"opendir", kFile},
    ForbiddenImport{"scandir*", kFile},
    ForbiddenImport{"unlink*", kFile},
    ForbiddenImport{"rename*", kFile},
    ForbiddenImport{"memfd_create", kFile},
    ForbiddenImport{"shm_open", kFile},
    ForbiddenImport{"write", kFile},
    ForbiddenImport{"writev", kFile},
    ForbiddenImport{"pwrite*", kFile},
    ForbiddenImport{"read", kFile},
    ForbiddenImport{"pread*", kFile},
    ForbiddenImport{"_ZNSt13basic_filebuf*", kFile},
    ForbiddenImport{"_ZNSt14basic_ifstream*", kFile},
    ForbiddenImport{"_ZNSt14basic_ofstream*", kFile},
    ForbiddenImport{"_ZNSt13basic_fstream*", kFile},
    ForbiddenImport{"_ZNSt10filesystem*", kFile},
    ForbiddenImport{"socket*", kSocket},
    ForbiddenImport{"connect", kSocket},
    ForbiddenImport{"bind", kSocket},
    ForbiddenImport{"listen", kSocket},
    ForbiddenImport{"accept*", kSocket},
    ForbiddenImport{"send", kSocket},
    ForbiddenImport{"sendto", kSocket},
    ForbiddenImport{"sendmsg", kSocket},
    ForbiddenImport{"recv*", kSocket},
    ForbiddenImport{"pthread_create", kThread},
    ForbiddenImport{"thrd_create", kThread},
    ForbiddenImport{"_ZNSt6thread*", kThread},
    ForbiddenImport{"pthread_kill", kSignal},
    ForbiddenImport{"signal", kSignal},
    ForbiddenImport{"sigaction", kSignal},
    ForbiddenImport{"raise", kSignal},
    ForbiddenImport{"kill", kSignal},
    ForbiddenImport{"killpg", kSignal},
    ForbiddenImport{"tgkill", kSignal},
    ForbiddenImport{"alarm", kSignal},
    ForbiddenImport{"setitimer", kSignal},
    ForbiddenImport{"timer_*", kSignal},
    ForbiddenImport{"sigaltstack", kSignal},
    ForbiddenImport{"sigqueue", kSignal},
    ForbiddenImport{"exit", kExit},
    ForbiddenImport{"_exit", kExit},
    ForbiddenImport{"_Exit", kExit},
    ForbiddenImport{"quick_exit", kExit},
    ForbiddenImport{"pthread_exit", kExit},
    ForbiddenImport{"sched_set*", kScheduler},
    ForbiddenImport{"pthread_setaffinity_np", kScheduler},
    ForbiddenImport{"pthread_setschedparam", kScheduler},
    ForbiddenImport{"setpriority", kScheduler},
    ForbiddenImport{"nice", kScheduler},
    ForbiddenImport{"prctl", kScheduler},
    ForbiddenImport{"setrlimit*", kScheduler},
    ForbiddenImport{"mprotect", kMemory},
    ForbiddenImport{"pkey_mprotect", kMemory},
    ForbiddenImport{"mremap", kMemory},
    ForbiddenImport{"process_vm_*", kMemory},
    ForbiddenImport{"ptrace", kMemory},
    ForbiddenImport{"syscall", kSystem},
};

// What a kernel may not define: clocks and the entry points that the evaluator itself provides or calls.
constexpr std::array<std::string_view, 9> kForbiddenDefinitions{
    "clock_gettime", "gettimeofday", "time", "clock", "__clock_gettime", "malloc", "free", "mmap", "__libc_start_main"};

bool matches(std::string_view name, std::string_view rule) {
  if (rule.back() == '*') return name.substr(0, rule.size() - 1) == rule.substr(0, rule.size() - 1);
  return name == rule;
}

// "std::ifstream::open(...)" rather than "_ZNSt14basic_ifstream...", without its arguments.
std::string readable(const std::string& symbol) {
  const std::string text = demangled(symbol);
  return text.substr(0, std::min(text.find('('), text.find('<')));
}

Diagnosis forbidden(std::string summary, std::string place, std::string hint) {
  return {"screen", std::move(summary), std::move(place), {}, std::move(hint), ""};
}

constexpr std::array<std::string_view, 16> kFrameworkHeaders{"torch/",   "ATen/",    "c10/",  "cblas",  "mkl",   "dnnl",
                                                             "oneapi/",  "openblas", "blis",  "cublas", "cudnn", "cusparse",
                                                             "cusolver", "cufft",    "nvrtc", "nccl"};

constexpr std::string_view kHostMemory = "memory of the host that kernels can use is not allowed: the work is done on the device";
constexpr std::string_view kEvaluator = "these functions are the evaluator's";

constexpr std::array kForbiddenCudaImports{
    ForbiddenImport{"kw_vgpu_*", kEvaluator},          ForbiddenImport{"cudaMallocHost", kHostMemory},
    ForbiddenImport{"cudaHostAlloc", kHostMemory},     ForbiddenImport{"cudaHostRegister", kHostMemory},
    ForbiddenImport{"cudaMallocManaged", kHostMemory}, ForbiddenImport{"cudaDeviceReset", kEvaluator},
};

bool is_runtime_name(std::string_view name) {
  const auto begins = [&](std::string_view prefix) {  // and a word follows, with a capital letter
    return name.starts_with(prefix) && name.size() > prefix.size() &&
           std::isupper(static_cast<unsigned char>(name[prefix.size()])) != 0;
  };
  return name.starts_with("kw_vgpu_") || begins("cuda") || begins("__cuda");
}

Result<std::optional<Diagnosis>> screen(const fs::path& object, std::string_view allowed, bool with_cuda) {
  KW_TRY(const ElfSymbols symbols, elf_symbols(object));
  for (const auto& name : symbols.imported)
    for (const auto& rule : kForbiddenImports)
      if (name != allowed && matches(name, rule.name))
        return std::optional(forbidden(fmt::format("the kernel calls {}", readable(name)), "", std::string(rule.why)));
  for (const auto& name : symbols.defined)
    if (std::find(kForbiddenDefinitions.begin(), kForbiddenDefinitions.end(), name) != kForbiddenDefinitions.end())
      return std::optional(
          forbidden(fmt::format("the kernel defines {}", name), "", "give the function another name: this one is the system's"));
  KW_TRY(const auto* runtime, runtime_names());
  for (const auto& name : symbols.imported)
    if (!runtime->contains(name) && !is_linkers_own(name) && !(with_cuda && is_runtime_name(name)))
      return std::optional(forbidden(fmt::format("the kernel calls {}, which is in no library that it may use", readable(name)), "",
                                     "compute it in the kernel: it has the C and C++ standard libraries, libm and OpenMP"));
  return std::optional<Diagnosis>{};
}

}  // namespace

std::optional<Diagnosis> screen_includes(const KernelSource& source) {
  for (const auto& include : include_lines(source.text)) {
    const std::string place = fmt::format("{}:{}", source.file, include.line);
    if (!include.name.empty() && (include.name.front() == '/' || include.name.find("..") != std::string::npos))
      return forbidden(fmt::format("the kernel includes a file by its path, '{}'", include.name), place,
                       "include the standard library, intrinsics and problem.h by their names only");
    for (const auto prefix : kFrameworkHeaders)
      if (include.name.substr(0, prefix.size()) == prefix)
        return forbidden(fmt::format("the kernel includes '{}'", include.name), place,
                         "the kernel does the work itself: no framework and no maths library");
  }
  return std::nullopt;
}

std::optional<Diagnosis> screen_dependencies(const std::string& dependencies, const std::string& folder,
                                             const std::vector<std::string>& more) {
  // A make rule: "kernel.so: kernel.cpp problem.h /usr/include/... \".
  std::string word;
  for (std::size_t i = 0; i <= dependencies.size(); ++i) {
    const char c = i < dependencies.size() ? dependencies[i] : ' ';
    if (c != ' ' && c != '\n' && c != '\\') {
      word += c;
      continue;
    }
    const bool is_path = !word.empty() && word.back() != ':';
    if (is_path) word = fs::path(word).lexically_normal().string();
    const bool is_own = word.find('/') == std::string::npos || word.rfind(folder, 0) == 0;
    const bool is_system =
        word.rfind("/usr/include/", 0) == 0 || word.rfind("/usr/lib/", 0) == 0 || word.rfind("/usr/local/include/", 0) == 0;
    const bool is_named =
        std::any_of(more.begin(), more.end(), [&](const std::string& allowed) { return word.rfind(allowed + "/", 0) == 0; });
    if (is_path && !is_own && !is_system && !is_named)
      return forbidden(fmt::format("the kernel includes '{}'", word), "",
                       "include the standard library, intrinsics and problem.h only");
    word.clear();
  }
  return std::nullopt;
}

Result<std::optional<Diagnosis>> screen_cuda_object(const fs::path& object) {
  // Each device function has a shadow on the host that only calls exit; a kernel that calls it itself is caught when it runs.
  KW_TRY(auto objection, screen(object, "exit", true));
  if (objection) return objection;
  KW_TRY(const ElfSymbols symbols, elf_symbols(object));
  for (const auto& name : symbols.imported)
    for (const auto& rule : kForbiddenCudaImports)
      if (matches(name, rule.name))
        return std::optional(forbidden(fmt::format("the kernel calls {}", name), "", std::string(rule.why)));
  for (const auto& name : symbols.defined)
    if (is_runtime_name(name))
      return std::optional(forbidden(fmt::format("the kernel defines {}", name), "",
                                     "give the function another name: this one is the CUDA runtime's"));
  return std::optional<Diagnosis>{};
}

Result<std::optional<Diagnosis>> screen_object(const fs::path& object) { return screen(object, "", false); }

}  // namespace kw
