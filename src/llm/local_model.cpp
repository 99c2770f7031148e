#include "llm/local_model.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/cores.h"
#include "llm/http.h"
#include "llm/remote_model.h"

namespace kw::llm {
namespace {

constexpr double kSlowestLoad = 600;  // seconds; a disk that reads 2 MB/s
// Reading a long prompt takes minutes on few cores, and nothing is heard meanwhile.
constexpr double kLocalIdle = 1200, kLocalTotal = 7200;

Error error_said(const Json& said) { return bad_input(said.value("message", "the helper failed"), said.value("hint", "")); }

Error gone_error(const std::string& what, const std::string& last_words) {
  return internal_error(fmt::format("{} ended without a word{}{}", what, last_words.empty() ? "" : ": ", last_words),
                        "is there enough memory? The model needs about 2 GB");
}

bool answers(const std::string& address) {
  HttpRequest request;
  request.url = address + "/health";
  request.connect_seconds = request.idle_seconds = request.total_seconds = 5;
  return http(request).status == 200;
}

// Keeps one server going for all threads that ask.
class ServerKeeper {
 public:
  ServerKeeper(LocalParts parts, LocalServerOptions options) : parts_(std::move(parts)), options_(std::move(options)) {}

  Result<Endpoint> endpoint() {
    const std::scoped_lock lock(mutex_);
    if (!server_ || !server_->alive()) {
      server_.reset();
      KW_TRY(server_, LocalServer::start(parts_, options_));
    }
    return Endpoint{server_->base_url(), server_->key()};
  }

 private:
  std::mutex mutex_;
  const LocalParts parts_;
  const LocalServerOptions options_;
  std::unique_ptr<LocalServer> server_;
};

}  // namespace

bool LocalParts::fetched() const {
  std::error_code code;
  return fs::exists(python, code) && fs::file_size(file, code) == static_cast<std::uintmax_t>(bytes) && !code;
}

Result<LocalParts> local_parts() {
  KW_TRY(const fs::path root, install_root());
  const fs::path source = root / "knowledge" / "models" / "local.json";
  KW_TRY(const std::string text, read_file(source));
  LocalParts parts;
  KW_TRY(parts.description, parse_json(text, source.string()));
  parts.folder = cache_home() / "models";
  parts.python = parts.folder / "venv" / "bin" / "python";
  KW_TRY(parts.file, read_fields(source.string(), [&] {
           parts.name = parts.description.at("name").get<std::string>();
           parts.bytes = parts.description.at("bytes").get<std::int64_t>();
           parts.context_tokens = parts.description.at("context_tokens").get<int>();
           return parts.folder / parts.description.at("file").get<std::string>();
         }));
  return parts;
}

Status fetch_local_model(const LocalParts& parts, const Progress& progress, const std::atomic<bool>* cancelled) {
  KW_TRY(const fs::path root, install_root());
  KW_TRY(const std::string python, helper_python());
  const Json options{{"folder", parts.folder.string()}, {"model", parts.description}};
  KW_TRY(HelperProcess helper, HelperProcess::start({python, "-m", "kw_model", "fetch"}, (root / "oracle").string(), options));
  for (;;) {
    Json said;
    const auto heard = helper.next(said, std::chrono::milliseconds(200));
    if (cancelled && *cancelled) return bad_input("cancelled", "run it again: it goes on where it stopped");
    if (heard == HelperProcess::Said::nothing_yet) continue;
    if (heard == HelperProcess::Said::gone) return gone_error("the download", helper.last_words());
    const std::string event = said.value("event", "");
    if (event == "error") return error_said(said);
    if (event == "done") return {};
    if (progress) progress(said.value("message", ""));
  }
}

Result<std::unique_ptr<LocalServer>> LocalServer::start(const LocalParts& parts, const LocalServerOptions& options) {
  if (!parts.fetched())
    return bad_input(fmt::format("the local model is not here ({} is missing or not whole)", parts.file.string()),
                     "kernelwright model fetch gets it (1.1 GB)");
  KW_TRY(const fs::path root, install_root());
  KW_TRY(Secret key, Secret::make(options.key.empty() ? random_key() : options.key, "the key for the local server"));
  const int cores = static_cast<int>(usable_cores().size());
  const int threads = options.threads > 0 ? options.threads : std::max(1, cores - 1);
  const Json asked{{"file", parts.file.string()},
                   {"threads", threads},
                   {"context", parts.context_tokens},
                   {"port", options.port},
                   {"key", key.reveal()}};
  KW_TRY(HelperProcess process,
         HelperProcess::start({parts.python.string(), "-m", "kw_model", "serve"}, (root / "oracle").string(), asked));
  std::unique_ptr<LocalServer> server(new LocalServer(std::move(process), std::move(key), threads));
  const auto begin = std::chrono::steady_clock::now();
  const auto waited = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  std::string address;
  while (address.empty() || !answers(address)) {
    if (options.cancelled && *options.cancelled) return bad_input("cancelled", "run the command again");
    if (waited() > kSlowestLoad) return internal_error(fmt::format("the local model is not loaded after {:.0f} s", waited()));
    if (options.progress) options.progress(fmt::format("loading {} ({:.0f} s)", parts.name, waited()));
    Json said;
    const auto heard = server->process_.next(said, std::chrono::milliseconds(address.empty() ? 500 : 100));
    if (heard == HelperProcess::Said::gone) return gone_error("the local model's server", server->process_.last_words());
    if (heard != HelperProcess::Said::something) continue;
    if (said.value("event", "") == "error") return error_said(said);
    if (said.value("event", "") == "ready") address = said.value("address", "");
  }
  server->base_url_ = address + "/v1";
  server->load_seconds_ = waited();
  return server;
}

Result<std::unique_ptr<Model>> open_local_model(Settings settings, const ModelOptions& options) {
  KW_TRY(LocalParts parts, local_parts());
  if (!parts.fetched())
    return bad_input(fmt::format("the local model is not here ({} is missing or not whole)", parts.file.string()),
                     "kernelwright model fetch gets it (1.1 GB)");
  settings.provider = find_provider("openai");
  settings.context_tokens =
      options.context_tokens > 0 ? std::min(options.context_tokens, parts.context_tokens) : parts.context_tokens;
  settings.price = Price{};
  settings.limits.in_flight = 1;  // more at once would only make each slower
  // A small model that does not come to an end rarely comes to one later, and each token takes a tenth of a second.
  settings.limits.continuations = std::min(settings.limits.continuations, 1);
  settings.limits.answer_tokens = std::min(settings.limits.answer_tokens, 2048);
  settings.limits.idle_seconds = std::max(settings.limits.idle_seconds, kLocalIdle);
  settings.limits.total_seconds = std::max(settings.limits.total_seconds, kLocalTotal);
  auto keeper = std::make_shared<ServerKeeper>(std::move(parts),
                                               LocalServerOptions{.progress = options.progress, .cancelled = options.cancelled});
  return std::unique_ptr<Model>(std::make_unique<RemoteModel>(
      std::move(settings), "local", [keeper] { return keeper->endpoint(); }, options));
}

}  // namespace kw::llm
