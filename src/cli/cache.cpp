#include "base/cache.h"

#include <map>

#include <fmt/format.h>

#include "cli/commands.h"
#include "report/numbers.h"
#include "report/run_text.h"
#include "report/text_table.h"
#include "suite/scaling.h"

namespace kw {
namespace {

double seconds_unused(const CacheEntry& entry) {
  const auto unused = std::chrono::duration<double>(fs::file_time_type::clock::now() - entry.used).count();
  return std::max(0.0, unused);
}

// Draws of one problem's tensors are one row.
struct CacheRow {
  int entries = 0;
  double bytes = 0;
  double unused = 0;
  bool in_use = false;
};

std::string cache_table(const std::vector<CacheEntry>& entries, const Paint& paint) {
  std::map<std::pair<std::string, std::string>, CacheRow> rows;
  for (const CacheEntry& entry : entries) {
    CacheRow& row = rows[{entry.kind, entry.name.substr(0, entry.name.rfind('-'))}];
    row.unused = row.entries == 0 ? seconds_unused(entry) : std::min(row.unused, seconds_unused(entry));
    ++row.entries;
    row.bytes += entry.bytes;
    row.in_use |= entry.in_use;
  }
  TextTable table({"what", "of", "entries", "size", "last used"}, {2, 3});
  for (const auto& [name, row] : rows)
    table.add({name.first, name.second, std::to_string(row.entries), human_bytes(row.bytes),
               row.in_use ? "in use now" : human_duration(row.unused) + " ago"});
  return rows.empty() ? "" : table.text(paint);
}

}  // namespace

Result<int> run_cache(const CacheOptions& options, Output& output) {
  if (options.limit) {
    const auto bytes = bytes_of_size(*options.limit);
    if (!bytes) return bad_input(fmt::format("--limit {} is no size", *options.limit), "write it as 4GB, 500MB or 2GiB");
    KW_CHECK(set_cache_limit(*bytes));
    if (std::getenv("KERNELWRIGHT_CACHE_GB") != nullptr && cache_limit() != *bytes)  // NOLINT(concurrency-mt-unsafe)
      return bad_input("KERNELWRIGHT_CACHE_GB is set, and counts before what --limit says; the limit is kept for when it is not",
                       "unset KERNELWRIGHT_CACHE_GB");
  }
  const CacheSweep sweep = options.clear ? shrink_cache(0, false) : shrink_cache(cache_limit());
  const std::vector<CacheEntry> entries = cache_entries();
  const double kept = kept_cache_bytes();
  std::string text =
      fmt::format("{}: {} of at most {}\n", cache_home().string(), human_bytes(sweep.left_bytes), human_bytes(cache_limit()));
  if (sweep.removed_bytes > 0) text += fmt::format("removed {}\n", human_bytes(sweep.removed_bytes));
  if (options.clear && !entries.empty()) text += "what a running process uses stays\n";
  text += cache_table(entries, output.paint());
  if (kept > 0)
    text +=
        output.paint().faint(fmt::format("{} beside that: ceilings of this machine, descriptions of problems, models; they are not "
                                         "limited\n",
                                         human_bytes(kept)));
  Json json{
      {"folder", cache_home().string()},      {"limit_bytes", cache_limit()}, {"bytes", sweep.left_bytes}, {"kept_bytes", kept},
      {"removed_bytes", sweep.removed_bytes}, {"removed", sweep.removed},     {"entries", Json::array()}};
  for (const CacheEntry& entry : entries)
    json["entries"].push_back({{"kind", entry.kind},
                               {"name", entry.name},
                               {"folder", entry.path.string()},
                               {"bytes", entry.bytes},
                               {"unused_seconds", seconds_unused(entry)},
                               {"in_use", entry.in_use}});
  output.result(text, json);
  return kPassed;
}

}  // namespace kw
