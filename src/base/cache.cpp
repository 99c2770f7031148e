#include "base/cache.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/json.h"

namespace kw {
namespace {

constexpr double kUsualLimit = 4e9;
constexpr const char* kWorkPrefix = ".making";
constexpr const char* kGoingPrefix = ".removed";

fs::path limit_file() { return cache_home() / "limit.json"; }

// Whether the descriptor is of what stands at that path now: it may have been moved away between opening and locking.
bool is_still_there(int descriptor, const fs::path& path) {
  struct stat opened {
  }, present{};
  return ::fstat(descriptor, &opened) == 0 && ::stat(path.c_str(), &present) == 0 && opened.st_dev == present.st_dev &&
         opened.st_ino == present.st_ino;
}

LockedFile opened(const fs::path& folder) { return LockedFile(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)); }

bool is_in_use(const fs::path& folder) {
  const LockedFile file = opened(folder);
  return file.descriptor() >= 0 && file.lock() == EWOULDBLOCK;
}

// Others see it whole or not at all. False: somebody uses it, or it is not ours to remove.
bool remove_unused(const fs::path& folder) {
  const LockedFile file = opened(folder);
  if (file.descriptor() < 0 || file.lock() != 0 || !is_still_there(file.descriptor(), folder)) return false;
  std::error_code code;
  auto aside = TempFolder::make_in(folder.parent_path(), kGoingPrefix);
  if (!aside) {
    return fs::remove_all(folder, code) > 0 && !code;
  }
  fs::rename(folder, aside->path() / "folder", code);
  return !code;
}

// Other processes make and remove folders while these are read: what vanishes on the way is passed over.
std::vector<fs::path> folders_in(const fs::path& parent) {
  std::vector<fs::path> all;
  std::error_code gone;
  for (const auto& entry : entries_of(parent))
    if (entry.is_directory(gone) && !entry.is_symlink(gone)) all.push_back(entry.path());
  return all;
}

double bytes_below(const fs::path& folder) {
  double total = 0;
  std::error_code gone;
  for (const auto& entry : entries_of(folder)) {
    if (entry.is_directory(gone) && !entry.is_symlink(gone))
      total += bytes_below(entry.path());
    else if (const auto size = entry.file_size(gone); !gone)
      // A draw's sets share the file of their weights.
      total += static_cast<double>(size) / static_cast<double>(std::max<std::uintmax_t>(1, entry.hard_link_count(gone)));
  }
  return total;
}

bool is_leftover(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with(kWorkPrefix) || name.starts_with(kGoingPrefix) || name.starts_with("making.");
}

// The folders that are entries, by kind; leftovers apart.
struct Places {
  std::vector<CacheEntry> entries;
  std::vector<fs::path> leftovers;
};

Places places() {
  Places found;
  const auto add = [&](const char* kind, const std::string& name, const fs::path& path) {
    if (is_leftover(path))
      found.leftovers.push_back(path);
    else
      found.entries.push_back({kind, name, path, 0, {}, false});
  };
  for (const auto& problem : folders_in(cache_home() / "tensors"))
    for (const auto& draw : folders_in(problem)) {
      add("tensors", problem.filename().string(), draw);
      for (const auto& set : folders_in(draw))
        if (is_leftover(set)) found.leftovers.push_back(set);
    }
  for (const auto& headers : folders_in(cache_home() / "headers")) add("headers", headers.filename().string(), headers);
  for (const auto& copy : folders_in(cache_home() / "torch-without-kernels")) add("torch", copy.filename().string(), copy);
  if (std::error_code code; fs::is_directory(cache_home() / "inductor", code))
    add("compiled", "inductor", cache_home() / "inductor");
  return found;
}

std::vector<CacheEntry> measured(std::vector<CacheEntry> entries) {
  std::error_code gone;
  for (CacheEntry& entry : entries) {
    entry.bytes = bytes_below(entry.path);
    entry.used = fs::last_write_time(entry.path, gone);
  }
  std::stable_sort(entries.begin(), entries.end(), [](const CacheEntry& a, const CacheEntry& b) { return a.used < b.used; });
  return entries;
}

}  // namespace

CacheLease use_cached(const fs::path& folder, Missing missing) {
  constexpr int kAttempts = 200;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::error_code code;
    if (missing == Missing::make) fs::create_directories(folder, code);
    auto file = std::make_shared<LockedFile>(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (file->descriptor() < 0) {
      if (missing == Missing::make && errno == ENOENT) continue;  // removed just now
      return nullptr;
    }
    const int why_not = file->share();
    if (why_not != 0 && why_not != EWOULDBLOCK) return nullptr;
    if (why_not == 0 && is_still_there(file->descriptor(), folder)) {
      fs::last_write_time(folder, fs::file_time_type::clock::now(), code);
      return file;
    }
    ::usleep(5000);  // somebody looks whether it is in use, or is removing it
  }
  return nullptr;
}

std::vector<CacheEntry> cache_entries() {
  std::vector<CacheEntry> entries = measured(places().entries);
  for (CacheEntry& entry : entries) entry.in_use = is_in_use(entry.path);
  return entries;
}

double kept_cache_bytes() {
  double entries = 0;
  for (const CacheEntry& entry : measured(places().entries)) entries += entry.bytes;
  return std::max(0.0, bytes_below(cache_home()) - entries);
}

double cache_limit() {
  const char* chosen = std::getenv("KERNELWRIGHT_CACHE_GB");  // NOLINT(concurrency-mt-unsafe)
  if (const double gigabytes = chosen != nullptr ? std::atof(chosen) : 0; gigabytes > 0) return gigabytes * 1e9;
  if (const auto text = read_file(limit_file()))
    if (const auto json = parse_json(*text, limit_file().string()); json && json->is_object())
      if (const auto bytes = json->find("bytes"); bytes != json->end() && bytes->is_number() && bytes->get<double>() >= 0)
        return bytes->get<double>();
  return kUsualLimit;
}

Status set_cache_limit(double bytes) {
  KW_CHECK(make_folders(cache_home()));
  return write_file_atomically(limit_file(), Json{{"bytes", bytes}}.dump() + "\n");
}

CacheSweep shrink_cache(double most_bytes, bool keep_newest) {
  CacheSweep sweep;
  Places found = places();
  for (const fs::path& leftover : found.leftovers) {
    const double bytes = bytes_below(leftover);
    if (remove_unused(leftover)) sweep.removed_bytes += bytes;
  }
  const std::vector<CacheEntry> entries = measured(std::move(found.entries));
  for (const CacheEntry& entry : entries) sweep.left_bytes += entry.bytes;
  const auto newest = std::find_if(entries.rbegin(), entries.rend(), [](const CacheEntry& each) { return each.kind == "tensors"; });
  for (const CacheEntry& entry : entries) {
    if (sweep.left_bytes <= most_bytes && most_bytes > 0) break;
    if (keep_newest && newest != entries.rend() && entry.path == newest->path) continue;
    if (!remove_unused(entry.path)) continue;
    ++sweep.removed;
    sweep.removed_bytes += entry.bytes;
    sweep.left_bytes -= entry.bytes;
  }
  return sweep;
}

void remove_cached(const fs::path& folder) { remove_unused(folder); }

Result<CacheWorkFolder> CacheWorkFolder::make_in(const fs::path& parent) {
  for (int attempt = 0;; ++attempt) {
    KW_TRY(TempFolder folder, TempFolder::make_in(parent, kWorkPrefix));
    CacheLease lease = use_cached(folder.path(), Missing::leave);
    std::error_code code;
    // In the moment before it was locked it may have been taken for a leftover.
    if (lease || fs::exists(folder.path(), code) || attempt == 5) return CacheWorkFolder(std::move(folder), std::move(lease));
  }
}

}  // namespace kw
