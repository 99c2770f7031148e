#include "base/onednn_limit.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/json.h"

namespace kw {
namespace {

// The value of the first line of /proc/cpuinfo with this name.
std::string cpuinfo(std::string_view name) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name)) return line.substr(std::min(line.size(), line.find(':') + 1));
  return {};
}

}  // namespace

fs::path onednn_record_file() {
  static const std::string processor = key_of(cpuinfo("model name"), cpuinfo("flags")).substr(0, 16);
  return cache_home() / "machines" / fmt::format("products-{}.json", processor);
}

std::optional<OneDnnRecord> onednn_record() {
  const fs::path file = onednn_record_file();
  std::error_code unreachable;
  if (!fs::exists(file, unreachable)) return std::nullopt;
  const auto text = read_file(file);
  const auto json = text ? parse_json(*text, file.string()) : text.error();
  if (!json) return std::nullopt;
  auto record = read_fields(file.string(), [&] {
    return OneDnnRecord{json->at("torch").get<std::string>(), json->at("limit").get<std::string>(),
                        json->at("running").get<std::vector<std::string>>(), json->at("died_of").get<std::string>()};
  });
  return record ? std::optional(std::move(*record)) : std::nullopt;
}

Status keep_onednn_record(const OneDnnRecord& record) {
  const fs::path file = onednn_record_file();
  KW_CHECK(make_folders(file.parent_path()));
  const Json json = {{"torch", record.torch}, {"limit", record.limit}, {"running", record.running}, {"died_of", record.died_of}};
  return write_file_atomically(file, json.dump(1) + "\n");
}

std::string onednn_limit() {
  if (const char* chosen = std::getenv(kOneDnnVariable); chosen != nullptr && *chosen != '\0') return chosen;
  const auto record = onednn_record();
  return record ? record->limit : "";
}

bool processor_advertises(std::string_view flag) {
  std::istringstream flags(cpuinfo("flags"));
  for (std::string word; flags >> word;)
    if (word == flag) return true;
  return false;
}

}  // namespace kw
