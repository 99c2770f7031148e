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

void to_json(Json& json, const TimingRecord& t) {
  json = Json{{"comparisons", t.comparisons},
              {"seconds", t.seconds},
              {"prepare_seconds", t.prepare_seconds},
              {"prepare_bytes", t.prepare_bytes},
              {"gflops_per_second", t.gflops_per_second},
              {"gbytes_per_second", t.gbytes_per_second},
              {"share_of_ceiling", t.share_of_ceiling},
              {"floor_seconds", t.floor_seconds},
              {"zone", t.zone},
              {"threads", t.threads},
              {"notes", t.notes}};
  if (t.memory_bytes > 0) json["memory_bytes"] = t.memory_bytes;
  if (t.eager_bytes > 0) json["eager_bytes"] = t.eager_bytes;
  if (t.budget_seconds > 0) json["budget_seconds"] = t.budget_seconds;
  if (!t.gpu.empty()) json["gpu"] = t.gpu;
}

void from_json(const Json& json, TimingRecord& t) {
  json.at("comparisons").get_to(t.comparisons);
  json.at("seconds").get_to(t.seconds);
  json.at("prepare_seconds").get_to(t.prepare_seconds);
  json.at("prepare_bytes").get_to(t.prepare_bytes);
  json.at("gflops_per_second").get_to(t.gflops_per_second);
  json.at("gbytes_per_second").get_to(t.gbytes_per_second);
  json.at("share_of_ceiling").get_to(t.share_of_ceiling);
  json.at("floor_seconds").get_to(t.floor_seconds);
  json.at("zone").get_to(t.zone);
  json.at("threads").get_to(t.threads);
  json.at("notes").get_to(t.notes);
  t.memory_bytes = json.value("memory_bytes", 0.0);
  t.eager_bytes = json.value("eager_bytes", 0.0);
  t.budget_seconds = json.value("budget_seconds", 0.0);
  if (json.contains("gpu")) json.at("gpu").get_to(t.gpu);
}

}  // namespace kw
