#include "cli/model_choice.h"

namespace kw {

Result<std::unique_ptr<Model>> opened_model(const ModelChoice& choice, Output& output, const std::atomic<bool>& cancelled) {
  if (!choice.record.empty() && !choice.replay.empty())
    return bad_input("--record and --replay do not go together", "record with a model, or replay without one");
  ModelOptions options;
  options.model = choice.model;
  options.base_url = choice.base_url;
  options.protocol = choice.protocol;
  options.limits.max_usd = choice.max_usd;
  options.limits.max_tokens = choice.max_tokens;
  options.record_file = choice.record;
  options.replay_file = choice.replay;
  options.cancelled = &cancelled;
  if (!output.json()) options.progress = [](std::string_view) {};
  return open_model(options);
}

}  // namespace kw
