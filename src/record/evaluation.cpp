#include "record/evaluation.h"

#include "base/hash.h"

namespace kw {

namespace {

// A map is sorted, so equal maps give equal text.
std::string text_of(const KnobValues& values) {
  std::string text;
  for (const auto& [name, value] : values) text += key_of(name, value);
  return text;
}

}  // namespace

std::string EvaluationKey::key() const {
  return key_of(kernel_hash, text_of(knobs), dsl, problem_hash, machine_id, compiler, flags, torch_version, evaluator_version,
                precision, sandbox, std::to_string(threads), text_of(conditions));
}

KW_JSON_FIELDS(EvaluationKey, kernel_hash, knobs, dsl, problem_hash, machine_id, compiler, flags, torch_version, evaluator_version,
               precision, sandbox, threads, conditions)

void to_json(Json& json, const Evaluation& e) {
  json = Json{{"id", e.id},
              {"key", e.key},
              {"kernel_source", e.kernel_source},
              {"kernel_file", e.kernel_file},
              {"verdict", e.verdict},
              {"timing", e.timing ? Json(*e.timing) : Json()},
              {"created_at", e.created_at},
              {"updated_at", e.updated_at}};
  if (e.estimate) json["estimate"] = *e.estimate;
}

void from_json(const Json& json, Evaluation& e) {
  json.at("id").get_to(e.id);
  json.at("key").get_to(e.key);
  json.at("kernel_source").get_to(e.kernel_source);
  json.at("kernel_file").get_to(e.kernel_file);
  json.at("verdict").get_to(e.verdict);
  const auto& timing = json.at("timing");
  e.timing = timing.is_null() ? std::nullopt : std::optional(timing.get<TimingRecord>());
  json.at("created_at").get_to(e.created_at);
  json.at("updated_at").get_to(e.updated_at);
  e.estimate = json.contains("estimate") ? std::optional(json.at("estimate").get<EstimateRecord>()) : std::nullopt;
}

}  // namespace kw
