#include "record/run.h"

namespace kw {

std::vector<std::string> Individual::real_strategies() const {
  std::vector<std::string> real;
  for (const AlignedStrategy& strategy : strategies)
    if (strategy.presence != Presence::struck) real.push_back(strategy.id);
  return real;
}

KW_JSON_FIELDS(RunOptions, search, seed, seconds, evaluations, islands, precision, threads)
KW_JSON_FIELDS(Proposal, origin, strategies, knobs, parents, island, generation, effort)
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
}

}  // namespace kw
