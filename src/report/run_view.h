// Everything that the archive knows of one run, gathered for the pages that show it. Read-only.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "archive/archive.h"

namespace kw {

struct RunView {
  RunRecord run;
  bool under_way = false;  // some process works on it
  std::vector<Individual> individuals;
  std::vector<Exchange> exchanges;
  std::vector<LedgerEntry> ledger;  // of this run; empty until it has ended
  std::optional<ProblemDescription> problem;
  std::optional<Machine> machine;
  std::optional<Evaluation> evaluation;        // that confirmed the winner
  std::map<std::string, Strategy> strategies;  // that the run's kernels name
};

enum class Sources { with, without };

// Of the individuals those from `first` on.
Result<RunView> run_view(Archive& archive, std::string_view id, Sources sources, std::int64_t first = 0);

// "there is no run 7".
Error no_such_run(std::string_view id);

}  // namespace kw
