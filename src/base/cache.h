// The cache folder's contents, which can all be made again: what is there, how much it may be, and who is using it. What was used
// longest ago goes first, and nothing goes that a running process uses.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/locked_file.h"

namespace kw {

// As long as one exists, in any process, its folder is not removed from the cache.
using CacheLease = std::shared_ptr<const LockedFile>;
enum class Missing { make, leave };
// Nothing where the folder is not there, or the file system has no locks. Its time of use is now.
CacheLease use_cached(const fs::path& folder, Missing missing);

// One folder that goes or stays whole: a draw of tensors, headers compiled beforehand, all that torch.compile has made, or a copy
// of PyTorch's code without its kernels.
struct CacheEntry {
  std::string kind;  // tensors, headers, compiled, torch
  std::string name;  // of tensors the problem's folder
  fs::path path;
  double bytes = 0;
  fs::file_time_type used;
  bool in_use = false;
};
std::vector<CacheEntry> cache_entries();  // used longest ago first

// What else is there and is never removed by itself: ceilings of machines, models.
double kept_cache_bytes();

// How many bytes the entries may have: $KERNELWRIGHT_CACHE_GB, else what was set, else 4 GB.
double cache_limit();
Status set_cache_limit(double bytes);

struct CacheSweep {
  int removed = 0;
  double removed_bytes = 0;
  double left_bytes = 0;
};
// Removes entries, used longest ago first, until what is left fits; and what processes that were killed left half made. The newest
// draw of tensors stays where `keep_newest`: it is most likely wanted next.
CacheSweep shrink_cache(double most_bytes, bool keep_newest = true);

// Removes one entry; nothing where a running process uses it.
void remove_cached(const fs::path& folder);

// A folder to make something in that is then moved into place beside it. Left behind by a process that was killed, it is removed by
// the next that looks; until this object goes, it is not.
class CacheWorkFolder {
 public:
  static Result<CacheWorkFolder> make_in(const fs::path& parent);
  [[nodiscard]] const fs::path& path() const { return folder_.path(); }

 private:
  CacheWorkFolder(TempFolder folder, CacheLease lease) : folder_(std::move(folder)), lease_(std::move(lease)) {}
  TempFolder folder_;
  CacheLease lease_;
};

}  // namespace kw
