#include "record/run.h"

#include "record/standing.h"

namespace kw {
namespace {

// What some records have and others have not: a run without a model, or of long ago, reads as it always did.
template <typename Value>
void put_if_any(Json& json, const char* key, const Value& value) {
  if (!value.empty()) json[key] = value;
}
template <typename Value>
void get_if_any(const Json& json, const char* key, Value& value) {
  if (json.contains(key)) json.at(key).get_to(value);
}

}  // namespace

std::optional<double> confirmed_speedup(const RunRecord& run) {
  if (run.winner < 0) return std::nullopt;
  if (const Comparison* eager = comparison_with(run.confirmed, "eager")) return eager->speedup;
  if (run.estimate && run.estimate->seconds > 0 && run.reference_seconds > 0) return run.reference_seconds / run.estimate->seconds;
  return std::nullopt;
}

std::vector<std::string> Individual::real_strategies() const {
  std::vector<std::string> real;
  for (const AlignedStrategy& strategy : strategies)
    if (strategy.presence != Presence::struck) real.push_back(strategy.id);
  return real;
}

void to_json(Json& json, const RunOptions& o) {
  json = Json{{"search", o.search},   {"seed", o.seed},           {"seconds", o.seconds}, {"evaluations", o.evaluations},
              {"islands", o.islands}, {"precision", o.precision}, {"threads", o.threads}};
  put_if_any(json, "model", o.model);
  put_if_any(json, "base_url", o.base_url);
  if (o.dsl != "cpp") json["dsl"] = o.dsl;
  put_if_any(json, "machine", o.machine);
  put_if_any(json, "timed_on", o.timed_on);
  put_if_any(json, "part_of", o.part_of);
}

void from_json(const Json& json, RunOptions& o) {
  json.at("search").get_to(o.search);
  json.at("seed").get_to(o.seed);
  json.at("seconds").get_to(o.seconds);
  json.at("evaluations").get_to(o.evaluations);
  json.at("islands").get_to(o.islands);
  json.at("precision").get_to(o.precision);
  json.at("threads").get_to(o.threads);
  get_if_any(json, "model", o.model);
  get_if_any(json, "base_url", o.base_url);
  get_if_any(json, "dsl", o.dsl);
  get_if_any(json, "machine", o.machine);
  get_if_any(json, "timed_on", o.timed_on);
  get_if_any(json, "part_of", o.part_of);
}

void to_json(Json& json, const PartRecord& p) {
  json = Json{{"part", p.part}, {"operations", p.operations}, {"places", p.places}, {"share", p.share},
              {"run", p.run},   {"speedup", p.speedup}};
}

void from_json(const Json& json, PartRecord& p) {
  json.at("part").get_to(p.part);
  json.at("operations").get_to(p.operations);
  json.at("places").get_to(p.places);
  json.at("share").get_to(p.share);
  json.at("run").get_to(p.run);
  json.at("speedup").get_to(p.speedup);
}

void to_json(Json& json, const PartChoice& c) { json = Json{{"part", c.part}, {"strategies", c.strategies}, {"knobs", c.knobs}}; }

void from_json(const Json& json, PartChoice& c) {
  json.at("part").get_to(c.part);
  json.at("strategies").get_to(c.strategies);
  json.at("knobs").get_to(c.knobs);
}

void to_json(Json& json, const Proposal& p) {
  json = Json{{"origin", p.origin}, {"strategies", p.strategies}, {"knobs", p.knobs},  {"parents", p.parents},
              {"island", p.island}, {"generation", p.generation}, {"effort", p.effort}};
  put_if_any(json, "author", p.author);
  put_if_any(json, "task", p.task);
  put_if_any(json, "parts", p.parts);
}

void from_json(const Json& json, Proposal& p) {
  json.at("origin").get_to(p.origin);
  json.at("strategies").get_to(p.strategies);
  json.at("knobs").get_to(p.knobs);
  json.at("parents").get_to(p.parents);
  json.at("island").get_to(p.island);
  json.at("generation").get_to(p.generation);
  json.at("effort").get_to(p.effort);
  get_if_any(json, "author", p.author);
  get_if_any(json, "task", p.task);
  get_if_any(json, "parts", p.parts);
}

KW_JSON_FIELDS(Lesson, workload_class, zone, shape, features, first, best, best_knobs, strategies, speedup, gain, run)

void to_json(Json& json, const Individual& i) {
  json = Json{{"index", i.index},
              {"proposal", i.proposal},
              {"kernel", i.kernel},
              {"strategies", i.strategies},
              {"verdict", name_of(i.verdict)},
              {"diagnosis", i.diagnosis},
              {"seconds", i.seconds},
              {"speedup", i.speedup},
              {"interval", i.interval},
              {"share_of_ceiling", i.share_of_ceiling},
              {"assembly_hash", i.assembly_hash},
              {"duplicate_of", i.duplicate_of},
              {"findings", i.findings},
              {"spent_seconds", i.spent_seconds}};
  if (!i.details.summary.empty()) json["details"] = i.details;
  put_if_any(json, "faults", i.faults);
  put_if_any(json, "remarks", i.remarks);
  put_if_any(json, "invented", i.invented);
  put_if_any(json, "prompts", i.prompts);
  put_if_any(json, "ratios", i.ratios);
}

void from_json(const Json& json, Individual& i) {
  json.at("index").get_to(i.index);
  json.at("proposal").get_to(i.proposal);
  json.at("kernel").get_to(i.kernel);
  json.at("strategies").get_to(i.strategies);
  const auto verdict = verdict_from_name(json.at("verdict").get<std::string>());
  if (!verdict) throw Json::type_error::create(302, verdict.error().message, &json);
  i.verdict = *verdict;
  json.at("diagnosis").get_to(i.diagnosis);
  json.at("seconds").get_to(i.seconds);
  json.at("speedup").get_to(i.speedup);
  json.at("interval").get_to(i.interval);
  json.at("share_of_ceiling").get_to(i.share_of_ceiling);
  json.at("assembly_hash").get_to(i.assembly_hash);
  json.at("duplicate_of").get_to(i.duplicate_of);
  json.at("findings").get_to(i.findings);
  json.at("spent_seconds").get_to(i.spent_seconds);
  get_if_any(json, "details", i.details);
  get_if_any(json, "faults", i.faults);
  get_if_any(json, "remarks", i.remarks);
  get_if_any(json, "invented", i.invented);
  get_if_any(json, "prompts", i.prompts);
  get_if_any(json, "ratios", i.ratios);
}

void to_json(Json& json, const RunRecord& r) {
  json = Json{{"id", r.id},
              {"options", r.options},
              {"problem_file", r.problem_file},
              {"problem_name", r.problem_name},
              {"problem_hash", r.problem_hash},
              {"torch_version", r.torch_version},
              {"machine_id", r.machine_id},
              {"zone", r.zone},
              {"workload_class", r.workload_class},
              {"shape", r.shape},
              {"ledger_limit", r.ledger_limit},
              {"lesson_limit", r.lesson_limit},
              {"state", r.state},
              {"ending", r.ending},
              {"elapsed_seconds", r.elapsed_seconds},
              {"winner", r.winner},
              {"confirmed", r.confirmed ? Json(*r.confirmed) : Json()},
              {"profile", r.profile},
              {"created_at", r.created_at},
              {"updated_at", r.updated_at}};
  put_if_any(json, "stages", r.stages);
  if (r.estimate) json["estimate"] = *r.estimate;
  if (r.ceilings) json["ceilings"] = *r.ceilings;
  put_if_any(json, "parts", r.parts);
  put_if_any(json, "reference", r.reference);
  if (r.reference_seconds > 0) json["reference_seconds"] = r.reference_seconds;
}

void from_json(const Json& json, RunRecord& r) {
  json.at("id").get_to(r.id);
  json.at("options").get_to(r.options);
  json.at("problem_file").get_to(r.problem_file);
  json.at("problem_name").get_to(r.problem_name);
  json.at("problem_hash").get_to(r.problem_hash);
  json.at("torch_version").get_to(r.torch_version);
  json.at("machine_id").get_to(r.machine_id);
  json.at("zone").get_to(r.zone);
  json.at("workload_class").get_to(r.workload_class);
  json.at("shape").get_to(r.shape);
  json.at("ledger_limit").get_to(r.ledger_limit);
  json.at("lesson_limit").get_to(r.lesson_limit);
  json.at("state").get_to(r.state);
  json.at("ending").get_to(r.ending);
  json.at("elapsed_seconds").get_to(r.elapsed_seconds);
  json.at("winner").get_to(r.winner);
  const auto& confirmed = json.at("confirmed");
  r.confirmed = confirmed.is_null() ? std::nullopt : std::optional(confirmed.get<TimingRecord>());
  json.at("profile").get_to(r.profile);
  json.at("created_at").get_to(r.created_at);
  json.at("updated_at").get_to(r.updated_at);
  get_if_any(json, "stages", r.stages);
  if (json.contains("estimate")) r.estimate = json.at("estimate").get<EstimateRecord>();
  if (json.contains("ceilings")) r.ceilings = json.at("ceilings").get<GpuCeilings>();
  get_if_any(json, "parts", r.parts);
  get_if_any(json, "reference", r.reference);
  get_if_any(json, "reference_seconds", r.reference_seconds);
}

}  // namespace kw
