#include "record/verdict.h"

#include <array>

namespace kw {
namespace {
constexpr std::array<std::string_view, 9> kVerdicts{"passed",        "forbidden", "compile_failed", "crashed",   "timed_out",
                                                    "out_of_memory", "wrong",     "imprecise",      "mistrusted"};
}

std::string_view name_of(Verdict verdict) { return kVerdicts[static_cast<std::size_t>(verdict)]; }

Result<Verdict> verdict_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kVerdicts.size(); ++i)
    if (kVerdicts[i] == name) return static_cast<Verdict>(i);
  return bad_input("unknown verdict '" + std::string(name) + "'");
}

KW_JSON_FIELDS(Diagnosis, stage, summary, place, evidence, hint, pattern)
KW_JSON_FIELDS(OutputError, output, max_error, max_error_eager, rms_error, rms_error_eager, worst_of_tolerance, wrong_elements,
               elements)
KW_JSON_FIELDS(CheckResult, distribution, weights, seed, threads, passed, outputs)

void to_json(Json& json, const VerdictRecord& r) {
  json = Json{{"verdict", name_of(r.verdict)},
              {"checks", r.checks},
              {"notes", r.notes},
              {"sandbox", r.sandbox},
              {"precision", r.precision},
              {"repeat", r.repeat},
              {"compile_seconds", r.compile_seconds},
              {"run_seconds", r.run_seconds},
              {"compare_seconds", r.compare_seconds}};
  if (r.verdict != Verdict::passed) json["diagnosis"] = r.diagnosis;
  if (r.chosen_seed != 0) json["chosen_seed"] = r.chosen_seed;
  if (r.gpu_budget_seconds > 0) json["gpu_budget_seconds"] = r.gpu_budget_seconds;
}

void from_json(const Json& json, VerdictRecord& r) {
  auto verdict = verdict_from_name(json.at("verdict").get<std::string>());
  if (!verdict) throw Json::other_error::create(504, verdict.error().message, nullptr);
  r.verdict = *verdict;
  if (json.contains("diagnosis")) json.at("diagnosis").get_to(r.diagnosis);
  json.at("checks").get_to(r.checks);
  json.at("notes").get_to(r.notes);
  json.at("sandbox").get_to(r.sandbox);
  json.at("precision").get_to(r.precision);
  json.at("repeat").get_to(r.repeat);
  r.chosen_seed = json.value("chosen_seed", std::uint64_t{0});
  r.gpu_budget_seconds = json.value("gpu_budget_seconds", 0.0);
  json.at("compile_seconds").get_to(r.compile_seconds);
  json.at("run_seconds").get_to(r.run_seconds);
  json.at("compare_seconds").get_to(r.compare_seconds);
}

}  // namespace kw
