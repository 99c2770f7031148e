// Smaller sisters of a problem, as the oracle writes them: another problem's text, in a file of its own.
#pragma once

#include "problem/problem_source.h"

namespace kw {

struct SmallerProblem {
  fs::path file;        // the problem's own where nothing was changed
  std::string changes;  // "batch 4096 -> 64"; empty: nothing was changed
  std::string why_not;  // where something, or more, should have been
  [[nodiscard]] bool is_smaller() const { return !changes.empty(); }
};

// `operation` and `limits` are the oracle's `scale` or `reduce` (docs/oracle-protocol.md). The text is written to `target`.
Result<SmallerProblem> smaller_problem(OracleClient& oracle, const std::string& operation, const fs::path& file, Json limits,
                                       const fs::path& target);

// A problem to try a kernel with where the whole one takes too long: at most so many multiply-adds and elements. Asked of the
// oracle once, then kept beside the problem's tensors.
struct ReducedProblem {
  std::optional<ProblemSource> source;  // none: `words` says why
  std::string words;                    // "N 4096 -> 256"
};
Result<ReducedProblem> reduced_problem(const ProblemSource& whole, double work, OracleClient& oracle);

}  // namespace kw
