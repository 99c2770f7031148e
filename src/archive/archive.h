// The archive: every problem, machine and evaluation, in one SQLite file that several processes may write at once.
// Nothing else writes that file. It never evaluates, never deletes but runs that it is told to, and never repairs or replaces a
// file it can't read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "archive/database.h"
#include "archive/runs.h"
#include "base/files.h"
#include "record/evaluation.h"
#include "record/machine.h"
#include "record/problem.h"

namespace kw {

// One line of a listing: what can be read without parsing a verdict's checks.
struct EvaluationSummary {
  std::int64_t id = 0;
  std::string key;  // EvaluationKey::key()
  std::string problem_hash;
  std::string problem_name;
  std::string machine_id;
  std::string kernel_hash;
  std::string kernel_file;
  std::string dsl;
  std::string precision;
  KnobValues knobs;
  Verdict verdict = Verdict::mistrusted;
  std::optional<double> seconds;  // the candidate's median call, where it was timed
  std::optional<double> speedup;  // over the first baseline of its timing
  std::string created_at;
};

class Archive {
 public:
  // <data_home()>/archive.db
  static fs::path default_path();

  // Opens the file, makes it (and its folder) where there is none, and brings an older schema up to date.
  // A file of a newer version, a corrupt one or one that isn't ours is refused and left exactly as it is.
  // Files and folder are for their owner alone; see owner_only.h.
  static Result<Archive> open(const fs::path& path);
  // For looking only: nothing is made, migrated or written, only closed to other users. A file that is missing or of an older
  // schema is refused.
  static Result<Archive> open_to_read(const fs::path& path);

  // A problem is known by its source and the PyTorch that described it; a second description replaces the first,
  // its first-seen time stays.
  Status put_problem(const ProblemDescription& problem);
  Result<std::optional<ProblemDescription>> find_problem(std::string_view source_hash, std::string_view torch_version);

  // Newer measurements of a machine replace older ones.
  Status put_machine(const Machine& machine);
  Result<std::optional<Machine>> find_machine(std::string_view id);

  // Always adds one and returns its id. Its problem and its machine must have been put before.
  Result<std::int64_t> put_evaluation(const Evaluation& evaluation);
  // Adds a timing to an evaluation, or replaces the one that it has.
  Status put_timing(std::int64_t id, const TimingRecord& timing);
  Status put_estimate(std::int64_t id, const EstimateRecord& estimate);

  // The newest evaluation with this key.
  Result<std::optional<Evaluation>> find_evaluation(std::string_view key);
  Result<std::optional<Evaluation>> find_evaluation(const EvaluationKey& key) { return find_evaluation(key.key()); }
  Result<std::optional<Evaluation>> get_evaluation(std::int64_t id);
  // The newest evaluation of this kernel with these knobs on this problem that has a timing, or an estimate for a GPU.
  Result<std::optional<Evaluation>> find_measured(std::string_view problem_hash, std::string_view kernel_hash,
                                                  const KnobValues& knobs);

  // Gives the disk back what was deleted; waits for nobody, and leaves it for another time where others are writing.
  void compact();

  // Valid as long as the archive stays where it is.
  [[nodiscard]] RunArchive runs() const { return RunArchive(database_); }

  // Newest first; of all problems where none is given.
  Result<std::vector<EvaluationSummary>> list(const std::optional<std::string>& problem_hash = std::nullopt, int limit = 100);

 private:
  explicit Archive(Database database) : database_(std::move(database)) {}
  Result<std::optional<Evaluation>> read_evaluation(Statement& query);
  Status put_column(const char* sql, std::int64_t id, const std::string& text);

  Database database_;
};

}  // namespace kw
