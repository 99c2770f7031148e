#include "problem/problem_source.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/hash.h"

namespace kw {
namespace {

// A changed oracle may describe or draw differently, so it is part of every key.
Result<std::string> oracle_version() {
  KW_TRY(const fs::path root, install_root());
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(root / "oracle" / "kw_oracle"))
    if (entry.path().extension() == ".py") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::string all;
  for (const auto& file : files) {
    KW_TRY(const std::string text, read_file(file));
    all += key_of(file.filename().string(), text);
  }
  return sha256(all);
}

Result<std::string> torch_version(OracleClient& oracle) {
  KW_TRY(const std::string python, oracle_python());
  if (std::string version = torch_version_on_disk(python); !version.empty()) return version;
  KW_TRY(const Json greeting, oracle.hello());
  return greeting.value("torch", std::string("unknown"));
}

Result<ProblemDescription> description_from(const Json& json) {
  return read_fields("the problem's description", [&] { return json.get<ProblemDescription>(); });
}

}  // namespace

std::string torch_version_on_disk(const std::string& python) {
  const fs::path library = fs::path(python).parent_path().parent_path() / "lib";
  for (const auto& version : entries_of(library)) {
    if (version.path().filename().string().rfind("python3", 0) != 0) continue;
    for (const auto& package : entries_of(version.path() / "site-packages")) {
      const std::string name = package.path().filename().string();
      if (name.rfind("torch-", 0) == 0 && package.path().extension() == ".dist-info")
        return name.substr(6, name.size() - 6 - std::string(".dist-info").size());
    }
  }
  return "";
}

Result<ProblemSource> load_problem(const fs::path& file, OracleClient& oracle) {
  KW_TRY(const std::string text, read_file(file));
  KW_TRY(const std::string version, oracle_version());
  KW_TRY(const std::string torch, torch_version(oracle));
  const std::string key = key_of(text, torch, version).substr(0, 24);
  ProblemSource source;
  source.cache_folder = cache_home() / "tensors" / fmt::format("{}-{}", file.stem().string(), key);
  const fs::path cached = source.cache_folder / "description.json";
  const std::string absolute = fs::absolute(file).lexically_normal().string();

  std::error_code unreachable;
  if (fs::exists(cached, unreachable)) {
    if (auto old = read_file(cached)) {
      auto json = parse_json(*old, cached.string());
      if (json) {
        if (auto description = description_from(*json)) {
          source.description = std::move(*description);
          source.description.file = absolute;
          return source;
        }
      }
    }
    // Unreadable: describe it anew and replace it.
  }
  KW_TRY(const Json json, oracle.ask("describe", {{"problem", absolute}}));
  KW_TRY(source.description, description_from(json));
  source.description.file = absolute;
  KW_CHECK(make_folders(source.cache_folder));
  KW_CHECK(write_file_atomically(cached, Json(source.description).dump(1)));
  return source;
}

}  // namespace kw
