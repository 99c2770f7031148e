#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/interruption.h"
#include "llm/local_model.h"
#include "llm/model.h"
#include "llm/secret.h"

namespace kw {
namespace {

Result<int> fetch_model(Output& output) {
  KW_TRY(const llm::LocalParts parts, llm::local_parts());
  const Interruption interruption;
  KW_CHECK(llm::fetch_local_model(
      parts, [&](std::string_view text) { output.progress(text); }, &interruption.wanted()));
  output.result(
      fmt::format("{} is ready: {}\n", parts.name, parts.file.string()),
      {{"name", parts.name}, {"file", parts.file.string()}, {"bytes", parts.bytes}, {"context_tokens", parts.context_tokens}});
  return kPassed;
}

// A file that only its owner can read, for as long as the object lives.
class KeyFile {
 public:
  static Result<KeyFile> write(const fs::path& path, const std::string& key) {
    KW_CHECK(make_folders(path.parent_path()));
    ::unlink(path.c_str());
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const std::string line = key + "\n";
    const bool written = fd >= 0 && ::write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size());
    if (fd >= 0) ::close(fd);
    if (!written) return internal_error(fmt::format("cannot write {}", path.string()), "check the permissions of that folder");
    return KeyFile(path);
  }
  KeyFile(KeyFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  KeyFile& operator=(KeyFile&&) = delete;
  KeyFile(const KeyFile&) = delete;
  KeyFile& operator=(const KeyFile&) = delete;
  ~KeyFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }

 private:
  explicit KeyFile(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

Result<int> serve_model(const ModelCommandOptions& options, Output& output) {
  KW_TRY(const llm::LocalParts parts, llm::local_parts());
  const Interruption interruption;
  llm::LocalServerOptions wanted;
  wanted.port = options.port;
  wanted.threads = options.threads;
  wanted.progress = [&](std::string_view text) { output.progress(text); };
  wanted.cancelled = &interruption.wanted();
  const char* chosen = std::getenv("KERNELWRIGHT_API_KEY");
  if (chosen) wanted.key = chosen;
  KW_TRY(const auto server, llm::LocalServer::start(parts, wanted));
  std::optional<KeyFile> key_file;
  std::string key_place = "KERNELWRIGHT_API_KEY";
  if (wanted.key.empty()) {
    const fs::path path = parts.folder / fmt::format("serve-{}.key", ::getpid());
    KW_TRY(KeyFile written, KeyFile::write(path, server->key().reveal()));
    key_file.emplace(std::move(written));
    key_place = path.string();
  }
  output.result(fmt::format("{} is served at {} with {} thread{}; Ctrl-C ends it\n  the key is in {}\n", parts.name,
                            server->base_url(), server->threads(), server->threads() == 1 ? "" : "s", key_place),
                {{"name", parts.name},
                 {"base_url", server->base_url()},
                 {"key_in", key_place},
                 {"context_tokens", parts.context_tokens},
                 {"threads", server->threads()}});
  while (!interruption.wanted()) {
    if (!server->alive()) return internal_error("the local model's server died", "is there enough memory? It needs about 2 GB");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return kPassed;
}

Result<int> test_model(const ModelCommandOptions& options, Output& output) {
  const Interruption interruption;
  ModelOptions wanted;
  wanted.model = options.model;
  wanted.base_url = options.base_url;
  wanted.protocol = options.protocol;
  wanted.limits.continuations = 0;
  wanted.progress = [&](std::string_view text) { output.progress(text); };
  wanted.cancelled = &interruption.wanted();
  KW_TRY(const auto model, open_model(wanted));
  ChatRequest request;
  request.purpose = "test";
  request.messages = {{"user", "Write a C++ function float add(float a, float b) and nothing else."}};
  request.max_tokens = 1;
  double load_seconds = 0;
  if (options.model == "local" && options.base_url.empty()) {
    // The first request waits until the model is loaded, which is no part of its speed.
    KW_TRY(const Exchange first, model->chat(request));
    load_seconds = first.seconds;
  }
  request.max_tokens = 64;
  KW_TRY(const Exchange exchange, model->chat(request));
  const double speed = exchange.seconds > 0 ? static_cast<double>(exchange.output_tokens) / exchange.seconds : 0;
  const bool worked = exchange.finish != "error";
  std::string text = fmt::format("{}: {} tokens in, {} out in {:.1f} s ({:.1f} tokens/s)", model->name(), exchange.input_tokens,
                                 exchange.output_tokens, exchange.seconds, speed);
  if (load_seconds > 0) text += fmt::format(", loaded in {:.1f} s", load_seconds);
  if (exchange.usd > 0) text += fmt::format(", ${:.6f}", exchange.usd);
  text += worked ? fmt::format("\n{}\n", exchange.answer) : fmt::format("\nno answer: {}\n", exchange.error);
  output.result(text, {{"model", model->name()},
                       {"provider", exchange.provider},
                       {"context_tokens", model->context_tokens()},
                       {"answer", exchange.answer},
                       {"finish", exchange.finish},
                       {"error", exchange.error},
                       {"input_tokens", exchange.input_tokens},
                       {"output_tokens", exchange.output_tokens},
                       {"seconds", exchange.seconds},
                       {"load_seconds", load_seconds},
                       {"usd", exchange.usd},
                       {"attempts", exchange.attempts}});
  return worked ? kPassed : kNotPassed;
}

}  // namespace

Result<int> run_model(const ModelCommandOptions& options, Output& output) {
  if (options.action == "fetch") return fetch_model(output);
  if (options.action == "serve") return serve_model(options, output);
  return test_model(options, output);
}

}  // namespace kw
