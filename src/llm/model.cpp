#include "llm/model.h"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "base/files.h"
#include "llm/local_model.h"
#include "llm/recording.h"
#include "llm/remote_model.h"

namespace kw {
namespace {

Result<std::unique_ptr<Model>> open_unrecorded(const ModelOptions& options) {
  if (!options.replay_file.empty()) return llm::replayed(options.replay_file);
  KW_TRY(llm::Settings settings, llm::settings_of(options));
  if (settings.is_local()) return llm::open_local_model(std::move(settings), options);
  llm::Endpoint endpoint{settings.base_url, settings.key};
  const std::string provider(settings.provider->name);
  return std::unique_ptr<Model>(std::make_unique<llm::RemoteModel>(
      std::move(settings), provider, [endpoint]() -> Result<llm::Endpoint> { return endpoint; }, options));
}

}  // namespace

Result<std::unique_ptr<Model>> open_model(const ModelOptions& options) {
  KW_TRY(auto model, open_unrecorded(options));
  if (options.record_file.empty()) return model;
  std::error_code code;
  if (!options.replay_file.empty() && fs::equivalent(options.record_file, options.replay_file, code))
    return bad_input(fmt::format("{} cannot be replayed and recorded at once", options.replay_file),
                     "name another file for --record");
  return llm::recorded(std::move(model), options.record_file);
}

std::vector<Result<Exchange>> chat_many(Model& model, std::span<const ChatRequest> requests, int in_flight) {
  std::vector<Result<Exchange>> results(requests.size(), internal_error("not asked"));
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < requests.size(); i = next++) results[i] = model.chat(requests[i]);
  };
  std::vector<std::thread> threads;
  const std::size_t count = std::min(requests.size(), static_cast<std::size_t>(std::max(1, in_flight)));
  for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return results;
}

}  // namespace kw
