// Paired measurements of a candidate and its baselines, with confidence intervals.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace kw {

struct Interval {
  double low = 0;
  double high = 0;
};

struct Comparison {
  std::string baseline;          // eager, compile, or the other kernel's file
  double baseline_seconds = 0;   // of a call: the median over blocks of a block's lowest decile
  double candidate_seconds = 0;  // the same, in the blocks paired with this baseline
  double speedup = 0;            // centre of the ratios within pairs
  Interval interval;             // 95%, by signed ranks over pairs of blocks
  int pairs = 0;
  int calls = 0;                 // timed calls of each side
  std::vector<double> ratios{};  // of the pairs, in order; records of long ago have none
  [[nodiscard]] bool is_win() const { return interval.low > 1; }
};

struct TimingRecord {
  std::vector<Comparison> comparisons;
  double seconds = 0;            // the candidate's call, over all comparisons
  double prepare_seconds = 0;    // kw_prepare, once per weights; 0 when there is none
  double prepare_bytes = 0;      // memory that it holds on to
  double memory_bytes = 0;       // outputs and what the kernel's own variables take beside them; 0: not known
  double eager_bytes = 0;        // outputs and what eager keeps beside them at once; 0: not known
  double gflops_per_second = 0;  // 0 when the graph's FLOPs are unknown
  double gbytes_per_second = 0;  // compulsory bytes over time
  double share_of_ceiling = 0;   // of the roofline, 0..1 and now and then a little above
  double floor_seconds = 0;
  std::string zone;
  int threads = 0;
  double budget_seconds = 0;  // how long a comparison could go on; 0: not known
  std::string gpu{};          // that the calls ran on, as its driver calls it; empty: this machine's processor
  std::vector<std::string> notes;
};

void to_json(Json& json, const Interval& interval);
void from_json(const Json& json, Interval& interval);
void to_json(Json& json, const Comparison& comparison);
void from_json(const Json& json, Comparison& comparison);
void to_json(Json& json, const TimingRecord& timing);
void from_json(const Json& json, TimingRecord& timing);

}  // namespace kw
