// One side of the comparison: a kernel's way from its source to verdict and timing through the evaluator, stage by stage.
#pragma once

#include "search/evaluator.h"

namespace kw::turnaround {

struct Case {
  std::string name;
  fs::path problem;
  fs::path kernel;
};

struct Stages {
  double compile = 0;
  double run = 0;
  double compare = 0;
  double sets = 0;    // finding the inputs that timing rotates over
  double timing = 0;  // loading eager, looking for memory, the paired blocks
  double other = 0;   // starting processes, copying tensors, the archive
};

struct Round {
  double seconds = 0;
  Stages stages;
  bool waited = false;  // another timing held the machine, so that the seconds say little
};

// What was done here, in enough detail to do as much elsewhere.
struct HereSide {
  Case which;
  ProblemDescription problem;
  std::string kernel_text;
  std::vector<Round> rounds;
  int checks = 0;
  int blocks = 0;      // of each side, in the last round
  int calls = 0;       // timed ones, of each side
  double speedup = 0;  // over eager, in the last round
  std::vector<fs::path> check_folders;
  std::vector<fs::path> timing_folders;
};

struct HereOptions {
  int rounds = 3;
  double seconds_per_baseline = 1;
};

// One evaluator for all the cases, so that the oracle stays alive. One evaluation that is not counted comes before the rounds
// of a case: it leaves the tensors in the cache. Every round compiles another text, so that nothing is answered from an archive.
Result<std::vector<HereSide>> run_here(const std::vector<Case>& cases, const HereOptions& options);

}  // namespace kw::turnaround
