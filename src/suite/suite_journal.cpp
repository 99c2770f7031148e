#include "suite/suite_journal.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw {
namespace {

constexpr const char* kFile = "results.json";

Result<SuiteRecord> record_in(const fs::path& file) {
  KW_TRY(const std::string text, read_file(file));
  KW_TRY(const Json json, parse_json(text, file.string()));
  return read_fields(file.string(), [&] { return json.get<SuiteRecord>(); });
}

}  // namespace

std::string difference(const SuiteSettings& there, const SuiteSettings& wanted) {
  std::vector<std::string> words;
  const Json before = there, now = wanted;
  for (const auto& [name, value] : now.items())
    if (before.at(name) != value) words.push_back(fmt::format("{} {} there, {} now", name, before.at(name).dump(), value.dump()));
  return fmt::format("{}", fmt::join(words, "; "));
}

Result<SuiteJournal> SuiteJournal::open(const fs::path& folder, const SuiteRecord& wanted, bool again) {
  KW_CHECK(make_folders(folder));
  SuiteJournal journal(folder / kFile, wanted);
  std::error_code gone;
  if (!again && fs::exists(journal.file_, gone)) {
    auto there = record_in(journal.file_);
    if (!there)
      return bad_input(fmt::format("{}: cannot be read as results ({})", journal.file_.string(), there.error().message),
                       "use another folder with --out, or begin anew with --again");
    if (const std::string other = difference(there->settings, wanted.settings); !other.empty())
      return bad_input(fmt::format("{}: the results there were got with other settings: {}", folder.string(), other),
                       "use another folder with --out, or begin anew with --again");
    // Rows of problems that are not in the folder any more say nothing about it.
    journal.record_.under_way = there->under_way;
    journal.record_.torch_version = there->torch_version;
    for (SuiteRow& row : there->rows)
      if (std::ranges::find(wanted.problems, row.problem) != wanted.problems.end()) journal.record_.rows.push_back(std::move(row));
  }
  KW_CHECK(journal.save());
  return journal;
}

const SuiteRow* SuiteJournal::row_of(const std::string& problem, const std::string& hash) const {
  const auto found =
      std::ranges::find_if(record_.rows, [&](const SuiteRow& row) { return row.problem == problem && row.hash == hash; });
  return found == record_.rows.end() ? nullptr : &*found;
}

Status SuiteJournal::begin(const std::string& problem, const std::string& hash) {
  if (!record_.under_way || record_.under_way->problem != problem || record_.under_way->hash != hash)
    record_.under_way = SuiteUnderWay{problem, hash, "", 0, 0};
  ++record_.under_way->sessions;
  return save();
}

Status SuiteJournal::note(const std::string& run, std::int64_t evaluations) {
  if (!record_.under_way) return {};
  SuiteUnderWay& now = *record_.under_way;
  const bool is_further = evaluations > now.evaluations;
  if (now.run == run && !is_further) return {};
  now.run = run;
  if (is_further) now.sessions = 1;
  now.evaluations = std::max(now.evaluations, evaluations);
  return save();
}

Status SuiteJournal::pause() {
  if (record_.under_way) --record_.under_way->sessions;
  return save();
}

Status SuiteJournal::end(SuiteRow row) {
  std::erase_if(record_.rows, [&](const SuiteRow& old) { return old.problem == row.problem; });
  record_.rows.push_back(std::move(row));
  const auto place = [&](const SuiteRow& each) { return std::ranges::find(record_.problems, each.problem); };
  std::ranges::stable_sort(record_.rows, [&](const SuiteRow& a, const SuiteRow& b) { return place(a) < place(b); });
  record_.under_way.reset();
  return save();
}

Status SuiteJournal::set_torch(const std::string& version) {
  if (record_.torch_version == version) return {};
  record_.torch_version = version;
  return save();
}

Status SuiteJournal::save() const { return write_file_atomically(file_, Json(record_).dump(1) + "\n"); }

}  // namespace kw
