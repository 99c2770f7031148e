// One evaluation of one kernel: what was evaluated with what, and what came of it. The key names everything that the
// outcome depends on, so that an archived outcome is reused only where evaluating again could not differ.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "record/estimate.h"
#include "record/timing.h"
#include "record/verdict.h"

namespace kw {

using KnobValues = std::map<std::string, std::string>;  // macro -> what it is defined as

struct EvaluationKey {
  std::string kernel_hash;  // sha256 of the kernel's source
  KnobValues knobs;
  std::string dsl;                // cpp, cuda, triton, ...
  std::string problem_hash;       // ProblemDescription::source_hash
  std::string machine_id;         // Machine::id
  std::string compiler;           // its version as it says it itself
  std::string flags;              // as they are passed, in order
  std::string torch_version;      // of the oracle that made the reference and the baselines
  std::string evaluator_version;  // changes whenever verdicts or timings may
  std::string precision = "float32";
  std::string sandbox;  // bubblewrap, landlock, none
  int threads = 0;
  KnobValues conditions;  // what else decides the outcome, by name: limits, ceilings, data sheet, settings of the environment

  // sha256 over every field: two keys are equal exactly when all the fields are.
  [[nodiscard]] std::string key() const;
};

struct Evaluation {
  std::int64_t id = 0;  // given by the archive; 0 before that
  EvaluationKey key;
  std::string kernel_source;
  std::string kernel_file;  // where it was read from; may have changed since
  VerdictRecord verdict;
  std::optional<TimingRecord> timing;      // none when it did not pass, or was only checked
  std::optional<EstimateRecord> estimate;  // of kernels for a GPU that is not here
  std::string created_at;                  // UTC, ISO 8601; given by the archive
  std::string updated_at;                  // later than created_at when a timing was added
};

void to_json(Json& json, const EvaluationKey& key);
void from_json(const Json& json, EvaluationKey& key);
void to_json(Json& json, const Evaluation& evaluation);
void from_json(const Json& json, Evaluation& evaluation);

}  // namespace kw
