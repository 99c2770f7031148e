#include "serve/answers.h"

#include <algorithm>

#include <fmt/format.h>

#include "report/run_json.h"

namespace kw {
namespace {

constexpr std::size_t kMostKept = 8;
constexpr int kMostRuns = 5000;

Answers::Text text_of(const Json& json) {
  return std::make_shared<const std::string>(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

Result<Answers::Text> Answers::runs() const {
  Json list = Json::array();
  if (std::error_code code; fs::exists(archive_, code)) {
    KW_TRY(Archive archive, Archive::open_to_read(archive_));
    KW_TRY(const auto summaries, archive.runs().list(kMostRuns, SubProblems::with));
    for (const RunSummary& summary : summaries)
      list.push_back(
          listing_json(summary, summary.run.state == "running" && is_under_way(archive_.parent_path() / "locks", summary.run.id)));
  }
  return text_of({{"page", "list"}, {"runs", std::move(list)}});
}

Result<Answers::Text> Answers::run(const std::string& id, std::int64_t first) {
  KW_TRY(Archive archive, Archive::open_to_read(archive_));
  KW_TRY(const auto record, archive.runs().find(id));
  if (!record) return no_such_run(id);
  // An ended run has its last word in its record; one that goes on changes with every kernel.
  const bool under_way = record->state == "running" && is_under_way(archive_.parent_path() / "locks", id);
  const std::string key = fmt::format("{} {} {} {} {}", id, first, record->updated_at, record->state, under_way);
  {
    const std::lock_guard lock(mutex_);
    for (auto kept = kept_.begin(); kept != kept_.end(); ++kept) {
      if (kept->key != key) continue;
      kept_.splice(kept_.begin(), kept_, kept);
      return kept->text;
    }
  }
  KW_TRY(const RunView view, run_view(archive, id, Sources::without, first));
  Text text = text_of(page_json(view));
  const std::lock_guard lock(mutex_);
  kept_.push_front({key, text});
  if (kept_.size() > kMostKept) kept_.pop_back();
  return text;
}

Result<Answers::Text> Answers::kernel(const std::string& run, std::int64_t index) const {
  KW_TRY(Archive archive, Archive::open_to_read(archive_));
  KW_TRY(const auto individual, archive.runs().individual(run, index));
  if (!individual) return bad_input(fmt::format("run {} has no kernel {}", run, index));
  return text_of({{"index", index}, {"source", individual->kernel.source}});
}

Result<Answers::Text> Answers::exchange(const std::string& run, std::int64_t id) const {
  KW_TRY(Archive archive, Archive::open_to_read(archive_));
  KW_TRY(const auto exchanges, archive.runs().exchanges(run));
  for (const Exchange& exchange : exchanges)
    if (exchange.id == id) return text_of({{"messages", exchange.messages}, {"answer", exchange.answer}});
  return bad_input(fmt::format("run {} has no exchange {}", run, id));
}

}  // namespace kw
