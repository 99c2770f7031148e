#include "dsl/allowed_imports.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <mutex>
#include <optional>

#include "base/subprocess.h"
#include "dsl/cpp.h"
#include "dsl/elf_symbols.h"

namespace kw {
namespace {

using Names = std::set<std::string, std::less<>>;

// g++'s and clang++'s; the compiler tells where they are, and repeats the name of one that is not there.
constexpr std::array kRuntimes{"libc.so.6",        "libm.so.6",   "libmvec.so.1",         "libstdc++.so.6",       "libgcc_s.so.1",
                               "libgomp.so.1",     "libomp.so.5", "libatomic.so.1",       "ld-linux-x86-64.so.2", "libpthread.so.0",
                               "libquadmath.so.0", "libdl.so.2",  "ld-linux-aarch64.so.1"};

constexpr std::array<std::string_view, 5> kExtensionNamespaces{"at", "c10", "torch", "caffe2", "pybind11"};
constexpr std::array<std::string_view, 4> kBelowTheDispatcher{"native", "cpu", "meta", "vml"};

Result<Names> read_runtime_names() {
  KW_TRY(const std::string compiler, cpp_compiler());
  Names names;
  for (const char* library : kRuntimes) {
    KW_TRY(const CommandOutcome outcome,
           run_command({{compiler, std::string("-print-file-name=") + library}, {}, "", std::chrono::seconds(10), 4096}));
    const fs::path path = outcome.out.substr(0, outcome.out.find('\n'));
    if (!outcome.succeeded() || !path.is_absolute() || !fs::exists(path)) continue;
    KW_TRY(const ElfSymbols symbols, elf_symbols(path));
    names.insert(symbols.exported.begin(), symbols.exported.end());
  }
  if (!names.contains("memcpy"))
    return bad_input("the compiler does not say where the C library is: " + compiler, "set KERNELWRIGHT_CXX to g++ or clang++");
  return names;
}

}  // namespace

Result<const Names*> runtime_names() {
  static std::mutex guard;
  static std::optional<Names> names;
  const std::lock_guard lock(guard);
  if (!names) {
    KW_TRY(names, read_runtime_names());
  }
  return &*names;
}

bool is_linkers_own(std::string_view symbol) {
  constexpr std::array<std::string_view, 4> kOwn{"__gmon_start__", "_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable",
                                                 "_Jv_RegisterClasses"};
  return std::find(kOwn.begin(), kOwn.end(), symbol) != kOwn.end();
}

std::vector<std::string_view> leading_names(std::string_view mangled, std::size_t most) {
  std::vector<std::string_view> names;
  if (!mangled.starts_with("_Z")) return names;
  std::size_t at = 2;
  // vtables, type information, guards of static variables and thunks stand before the name that they belong to.
  for (const std::string_view special : {"TV", "TI", "TS", "TT", "TW", "TH", "GV", "GR"})
    if (mangled.substr(at).starts_with(special)) at += special.size();
  if (mangled.substr(at).starts_with("Th") || mangled.substr(at).starts_with("Tv"))
    at = std::min(mangled.find('_', at), mangled.size() - 1) + 1;
  while (at < mangled.size() && std::string_view("ZNrVKRO").find(mangled[at]) != std::string_view::npos) ++at;
  while (names.size() < most && at < mangled.size() && std::isdigit(static_cast<unsigned char>(mangled[at])) != 0) {
    std::size_t length = 0;
    for (; at < mangled.size() && std::isdigit(static_cast<unsigned char>(mangled[at])) != 0 && length < mangled.size(); ++at)
      length = length * 10 + static_cast<std::size_t>(mangled[at] - '0');
    if (length == 0 || length > mangled.size() - at) break;
    names.push_back(mangled.substr(at, length));
    at += length;
  }
  return names;
}

bool is_python_extension_name(std::string_view symbol) {
  for (const std::string_view prefix : {"Py", "_Py", "THP"})
    if (symbol.starts_with(prefix)) return true;
  const auto names = leading_names(symbol);
  if (names.empty()) return false;
  if (names[0].starts_with("THP")) return true;
  if (std::find(kExtensionNamespaces.begin(), kExtensionNamespaces.end(), names[0]) == kExtensionNamespaces.end()) return false;
  if (names[0] != "at" || names.size() < 2) return true;
  return !names[1].starts_with("compositeexplicit") &&
         std::find(kBelowTheDispatcher.begin(), kBelowTheDispatcher.end(), names[1]) == kBelowTheDispatcher.end();
}

}  // namespace kw
