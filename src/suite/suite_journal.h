// A suite's record on disk, in the folder of its results: written whole after every step, read again by the next session.
#pragma once

#include "base/files.h"
#include "record/suite.h"

namespace kw {

class SuiteJournal {
 public:
  // What an earlier session left there counts where it was got with the same settings; otherwise it is bad input, unless `again`:
  // then everything begins anew.
  static Result<SuiteJournal> open(const fs::path& folder, const SuiteRecord& wanted, bool again);

  [[nodiscard]] const SuiteRecord& record() const { return record_; }
  [[nodiscard]] const SuiteRow* row_of(const std::string& problem, const std::string& hash) const;

  // A problem is taken up.
  Status begin(const std::string& problem, const std::string& hash);
  // How far its run is.
  Status note(const std::string& run, std::int64_t evaluations);
  // It was left on purpose: this session does not count against it.
  Status pause();
  Status end(SuiteRow row);
  Status set_torch(const std::string& version);

 private:
  SuiteJournal(fs::path file, SuiteRecord record) : file_(std::move(file)), record_(std::move(record)) {}
  [[nodiscard]] Status save() const;

  fs::path file_;
  SuiteRecord record_;
};

// What differs, in words; empty: nothing.
std::string difference(const SuiteSettings& there, const SuiteSettings& wanted);

}  // namespace kw
