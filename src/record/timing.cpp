#include "record/timing.h"

namespace kw {

KW_JSON_FIELDS(Interval, low, high)
KW_JSON_FIELDS(Comparison, baseline, baseline_seconds, candidate_seconds, speedup, interval, pairs, calls)
KW_JSON_FIELDS(TimingRecord, comparisons, seconds, prepare_seconds, prepare_bytes, gflops_per_second, gbytes_per_second,
               share_of_ceiling, floor_seconds, zone, threads, notes)

}  // namespace kw
