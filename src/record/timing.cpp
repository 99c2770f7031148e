#include "record/timing.h"

namespace kw {

KW_JSON_FIELDS(Interval, low, high)

void to_json(Json& json, const Comparison& c) {
  json = Json{{"baseline", c.baseline},
              {"baseline_seconds", c.baseline_seconds},
              {"candidate_seconds", c.candidate_seconds},
              {"speedup", c.speedup},
              {"interval", c.interval},
              {"pairs", c.pairs},
              {"calls", c.calls}};
  if (!c.ratios.empty()) json["ratios"] = c.ratios;
}

void from_json(const Json& json, Comparison& c) {
  json.at("baseline").get_to(c.baseline);
  json.at("baseline_seconds").get_to(c.baseline_seconds);
  json.at("candidate_seconds").get_to(c.candidate_seconds);
  json.at("speedup").get_to(c.speedup);
  json.at("interval").get_to(c.interval);
  json.at("pairs").get_to(c.pairs);
  json.at("calls").get_to(c.calls);
  if (json.contains("ratios")) json.at("ratios").get_to(c.ratios);
}

KW_JSON_FIELDS(TimingRecord, comparisons, seconds, prepare_seconds, prepare_bytes, gflops_per_second, gbytes_per_second,
               share_of_ceiling, floor_seconds, zone, threads, notes)

}  // namespace kw
