// The other side of the comparison: the same kernels, checks and timed calls through torch.utils.cpp_extension.load_inline, in
// one Python process that has PyTorch imported before any clock starts.
#pragma once

#include "turnaround/here_side.h"

namespace kw::turnaround {

struct ThereRound {
  double seconds = 0;
  double compile = 0;  // load_inline itself
  double check = 0;
  double timing = 0;
  double speedup = 0;  // over eager, by medians
};

struct ThereSide {
  std::string name;
  std::vector<ThereRound> rounds;
};

// In the order of `cases`.
Result<std::vector<ThereSide>> run_load_inline(const std::vector<HereSide>& cases, int rounds, int threads);

}  // namespace kw::turnaround
