// A suite's record on disk, in the folder of its results: written whole after every step, read again by the next session. One
// session at a time has the folder.
#pragma once

#include <utility>

#include "base/files.h"
#include "base/locked_file.h"
#include "record/suite.h"

namespace kw {

// Held until it goes, or until the process ends in whatever way.
class FolderLock {
 public:
  static Result<FolderLock> acquire(const fs::path& folder);

 private:
  explicit FolderLock(LockedFile folder) : folder_(std::move(folder)) {}
  LockedFile folder_;
};

class SuiteJournal {
 public:
  // What an earlier session left there counts where it was got on the same machine with the same settings; otherwise it is bad
  // input. Rows of the problems in `anew` are forgotten; where those are all problems, so is everything else that is there.
  static Result<SuiteJournal> open(const fs::path& folder, const SuiteRecord& wanted, const std::vector<std::string>& anew);

  [[nodiscard]] const SuiteRecord& record() const { return record_; }
  [[nodiscard]] const SuiteRow* row_of(const std::string& problem, const std::string& hash) const;

  // A problem is taken up.
  Status begin(const std::string& problem, const std::string& hash);
  // What became of its size.
  Status scaled(const std::string& words);
  // How far its run is.
  Status note(const std::string& run, std::int64_t evaluations);
  // It was left on purpose: this session does not count against it.
  Status pause();
  Status end(SuiteRow row);
  // All versions that rows were got with, where PyTorch was changed between sessions.
  Status add_torch(const std::string& version);

 private:
  SuiteJournal(FolderLock lock, fs::path file, SuiteRecord record)
      : lock_(std::move(lock)), file_(std::move(file)), record_(std::move(record)) {}
  [[nodiscard]] Status save() const;

  FolderLock lock_;
  fs::path file_;
  SuiteRecord record_;
};

// What differs, in words; empty: nothing.
std::string difference(const SuiteSettings& there, const SuiteSettings& wanted);

}  // namespace kw
