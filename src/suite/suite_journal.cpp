#include "suite/suite_journal.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

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

// The folder is the user's choice, so that its troubles are, too.
Error unusable(const Error& error) { return bad_input(error.message, "choose a folder that can be written with --out"); }

}  // namespace

std::string difference(const SuiteSettings& there, const SuiteSettings& wanted) {
  std::vector<std::string> words;
  const Json before = there, now = wanted;
  for (const auto& [name, value] : now.items())
    if (before.at(name) != value) words.push_back(fmt::format("{} {} there, {} now", name, before.at(name).dump(), value.dump()));
  return fmt::format("{}", fmt::join(words, "; "));
}

Result<FolderLock> FolderLock::acquire(const fs::path& folder) {
  LockedFile open(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems have no locks: there, people must see to it themselves.
  if (open.descriptor() < 0 || open.lock() != EWOULDBLOCK) return FolderLock(std::move(open));
  return bad_input(fmt::format("{}: another bench is at work in this folder", folder.string()),
                   "wait for it, or use another folder with --out");
}

Result<SuiteJournal> SuiteJournal::open(const fs::path& folder, const SuiteRecord& wanted, const std::vector<std::string>& anew) {
  if (const Status made = make_folders(folder); !made.ok()) return unusable(made.error());
  KW_TRY(FolderLock lock, FolderLock::acquire(folder));
  SuiteJournal journal(std::move(lock), folder / kFile, wanted);
  const auto is_in = [](const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  };
  const bool all_anew = std::ranges::all_of(wanted.problems, [&](const std::string& name) { return is_in(anew, name); });
  std::error_code gone;
  if (!all_anew && fs::exists(journal.file_, gone)) {
    const std::string hint = anew.empty() ? "use another folder with --out, or begin anew with --again"
                                          : "use another folder with --out, or begin anew with --again and without --only";
    auto there = record_in(journal.file_);
    if (!there) return bad_input(fmt::format("{}: is damaged, or no results of a bench", journal.file_.string()), hint);
    if (const std::string other = difference(there->settings, wanted.settings); !other.empty())
      return bad_input(fmt::format("{}: the results there were got with other settings: {}", folder.string(), other), hint);
    if (!there->rows.empty() && !there->machine.empty() && there->machine != wanted.machine)
      return bad_input(fmt::format("{}: the results there were got on another machine: {} there, {} here", folder.string(),
                                   there->machine, wanted.machine),
                       hint);
    if (there->under_way && !is_in(anew, there->under_way->problem)) journal.record_.under_way = there->under_way;
    journal.record_.torch_version = there->torch_version;
    // Rows of problems that are not in the folder any more say nothing about it.
    for (SuiteRow& row : there->rows)
      if (is_in(wanted.problems, row.problem) && !is_in(anew, row.problem)) journal.record_.rows.push_back(std::move(row));
  }
  if (const Status saved = journal.save(); !saved.ok()) return unusable(saved.error());
  return journal;
}

const SuiteRow* SuiteJournal::row_of(const std::string& problem, const std::string& hash) const {
  const auto found =
      std::ranges::find_if(record_.rows, [&](const SuiteRow& row) { return row.problem == problem && row.hash == hash; });
  return found == record_.rows.end() ? nullptr : &*found;
}

Status SuiteJournal::begin(const std::string& problem, const std::string& hash) {
  if (!record_.under_way || record_.under_way->problem != problem || record_.under_way->hash != hash)
    record_.under_way = SuiteUnderWay{problem, hash, "", "", 0, 0};
  ++record_.under_way->sessions;
  return save();
}

Status SuiteJournal::scaled(const std::string& words) {
  if (!record_.under_way || record_.under_way->scaling == words) return {};
  record_.under_way->scaling = words;
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

Status SuiteJournal::add_torch(const std::string& version) {
  std::string& all = record_.torch_version;
  if (fmt::format(", {}, ", all).find(fmt::format(", {}, ", version)) != std::string::npos) return {};
  all += (all.empty() ? "" : ", ") + version;
  return save();
}

// Messages quote compilers and kernels, which need not write UTF-8.
Status SuiteJournal::save() const {
  return write_file_atomically(file_, Json(record_).dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace kw
