#include "dsl/precompiled.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>

#include "base/cache.h"
#include "base/hash.h"
#include "dsl/cpp.h"
#include "dsl/cpp_text.h"

namespace kw {
namespace {

constexpr std::array<std::string_view, 2> kHeaders{"immintrin.h", "cmath"};
constexpr const char* kName = "headers.h";

// What -march=native stands for: a home may be shared by machines that differ.
std::string processor_features() {
  const auto text = read_file("/proc/cpuinfo");
  if (!text) return "";
  const std::size_t at = text->find("\nflags");
  return at == std::string::npos ? "" : text->substr(at, text->find('\n', at + 1) - at);
}

std::string text_of_headers() {
  std::string text;
  for (const auto header : kHeaders) text += "#include <" + std::string(header) + ">\n";
  return text;
}

// Compiles them in a folder beside their place, and moves that there: other processes may do the same at this moment.
Result<fs::path> build(const fs::path& place, const std::string& compiler, sandbox::Mode mode) {
  KW_CHECK(make_folders(place.parent_path()));
  KW_TRY(const CacheWorkFolder folder, CacheWorkFolder::make_in(place.parent_path()));
  const fs::path made = folder.path() / "headers";
  KW_CHECK(make_folders(made));
  KW_CHECK(write_file_atomically(made / kName, text_of_headers()));
  CompileOptions options;
  options.mode = mode;
  sandbox::Spec box = cpp_compiler_box(compiler, made, options);
  for (const auto& flag : cpp_flags()) box.argv.push_back(flag);
  box.argv.insert(box.argv.end(), {"-w", "-x", "c++-header", kName, "-o", std::string(kName) + ".gch"});
  KW_TRY(const sandbox::Outcome outcome, sandbox::run(box, options.mode));
  if (!outcome.succeeded()) return internal_error("the headers cannot be compiled beforehand: " + outcome.err.substr(0, 300));
  std::error_code code;
  fs::rename(made, place, code);
  if (code && !fs::exists(place / kName)) return internal_error("cannot write " + place.string());
  return place / kName;
}

}  // namespace

std::optional<fs::path> precompiled_headers(const KernelSource& source, const std::string& compiler,
                                            const CompileOptions& options) {
  if (options.debug || options.lines) return std::nullopt;
  const auto included = include_lines(source.text);
  for (const auto header : kHeaders)
    if (std::none_of(included.begin(), included.end(), [&](const IncludeLine& line) { return line.name == header; }))
      return std::nullopt;
  const auto version = cpp_compiler_version();
  if (!version || !version->starts_with("g++")) return std::nullopt;

  static std::mutex guard;
  static std::map<std::string, std::optional<fs::path>> known;  // by key; one that could not be made is not tried again
  const std::lock_guard lock(guard);
  std::string flags;
  for (const auto& flag : cpp_flags()) flags += flag + " ";
  const fs::path place = cache_home() / "headers" / key_of(compiler, *version, flags, processor_features(), text_of_headers());
  static std::map<std::string, CacheLease> leases;  // for as long as this process compiles
  if (CacheLease& lease = leases[place.string()]; !lease) lease = use_cached(place, Missing::leave);
  if (const auto it = known.find(place.string()); it != known.end() && (!it->second || fs::exists(*it->second))) return it->second;
  if (fs::exists(place / kName)) return known[place.string()] = place / kName;
  auto made = build(place, compiler, options.mode);
  leases[place.string()] = use_cached(place, Missing::leave);
  return known[place.string()] = made ? std::optional(*made) : std::nullopt;
}

}  // namespace kw
