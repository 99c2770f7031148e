// The model of --model local: a small code model that runs on this machine's processor. Its file comes from a package index once;
// after that no network is used.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "base/files.h"
#include "base/json.h"
#include "llm/helper_process.h"
#include "llm/model.h"
#include "llm/settings.h"

namespace kw::llm {

using Progress = std::function<void(std::string_view)>;

// What knowledge/models/local.json says, and where it is kept.
struct LocalParts {
  Json description;
  std::string name;
  std::int64_t bytes = 0;
  int context_tokens = 0;
  fs::path folder;  // in the cache
  fs::path file;
  fs::path python;  // that has the server
  [[nodiscard]] bool fetched() const;
};
Result<LocalParts> local_parts();

// Gets what is missing and checks it; a fetch that was broken off goes on where it stopped.
Status fetch_local_model(const LocalParts& parts, const Progress& progress, const std::atomic<bool>* cancelled);

struct LocalServerOptions {
  int port = 0;       // 0: any that is free
  int threads = 0;    // 0: one fewer than the cores
  std::string key{};  // empty: one of its own
  Progress progress{};
  const std::atomic<bool>* cancelled = nullptr;
};

// A server on the loopback interface, for as long as this object lives.
class LocalServer {
 public:
  // Returns once it answers.
  static Result<std::unique_ptr<LocalServer>> start(const LocalParts& parts, const LocalServerOptions& options);
  [[nodiscard]] const std::string& base_url() const { return base_url_; }
  [[nodiscard]] const Secret& key() const { return key_; }
  [[nodiscard]] int threads() const { return threads_; }
  [[nodiscard]] double load_seconds() const { return load_seconds_; }
  [[nodiscard]] bool alive() { return process_.alive(); }

 private:
  LocalServer(HelperProcess process, Secret key, int threads)
      : process_(std::move(process)), key_(std::move(key)), threads_(threads) {}
  HelperProcess process_;
  Secret key_;
  int threads_;
  std::string base_url_;
  double load_seconds_ = 0;
};

// Starts a server with the first request, and again should it die. `settings` has the limits.
Result<std::unique_ptr<Model>> open_local_model(Settings settings, const ModelOptions& options);

}  // namespace kw::llm
