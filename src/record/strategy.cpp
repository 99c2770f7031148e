#include "record/strategy.h"

#include <array>

namespace kw {

std::span<const std::string_view> levers(std::string_view target) {
  static constexpr std::array<std::string_view, 16> kGpuLevers{
      "coalesce",    "vectorise",       "shared_tile",      "register_tile",   "fuse",         "layout",
      "warp_reduce", "async_copy",      "tensor_core",      "occupancy",       "launch_shape", "unroll",
      "split_work",  "reuse_registers", "online_algorithm", "approximate_math"};
  if (target != "cpu") return kGpuLevers;  // OpenCL writes for work-items, too
  static constexpr std::array<std::string_view, 17> kLevers{
      "parallelise", "vectorise",        "cache_tile",    "register_tile", "fuse",           "reorder_loops",
      "pack",        "prefetch",         "stream_stores", "unroll",        "reduction_tree", "online_algorithm",
      "algorithm",   "approximate_math", "reuse_buffers", "balance_work",  "layout"};
  return kLevers;
}

std::span<const std::string_view> zones() {
  static constexpr std::array<std::string_view, 4> kZones{"memory", "balanced", "compute", "latency"};
  return kZones;
}

std::span<const std::string_view> workload_classes() {
  static constexpr std::array<std::string_view, 15> kClasses{
      "attention", "recurrent",          "convolution", "matmul", "scan",          "loss",     "softmax",  "normalisation",
      "pooling",   "argument reduction", "reduction",   "gather", "interpolation", "movement", "pointwise"};
  return kClasses;
}

std::string_view name_of(Presence presence) {
  switch (presence) {
    case Presence::present:
      return "present";
    case Presence::struck:
      return "struck";
    case Presence::added:
      return "added";
    case Presence::unknown:
      return "unknown";
  }
  return "unknown";
}

void to_json(Json& json, const EvidenceCheck& check) {
  json = Json{{"where", check.where}, {"pattern", check.pattern}};
  if (check.absent) json["absent"] = true;
  if (!check.isa.empty()) json["isa"] = check.isa;
}

void from_json(const Json& json, EvidenceCheck& check) {
  json.at("where").get_to(check.where);
  json.at("pattern").get_to(check.pattern);
  check.absent = json.value("absent", false);
  check.isa = json.value("isa", std::string());
}

void to_json(Json& json, const Strategy& s) {
  json = Json{{"id", s.id},
              {"name", s.name},
              {"lever", s.lever},
              {"zones", s.zones},
              {"classes", s.classes},
              {"applies", s.applies},
              {"when", s.when},
              {"knobs", s.knobs},
              {"predicts", s.predicts},
              {"evidence", s.evidence},
              {"telling", s.telling},
              {"conflicts", s.conflicts},
              {"needs", s.needs},
              {"why", s.why}};
  if (s.target != "cpu") json["target"] = s.target;
  if (s.rounding) json["rounding"] = true;
}

void from_json(const Json& json, Strategy& s) {
  json.at("id").get_to(s.id);
  json.at("name").get_to(s.name);
  json.at("lever").get_to(s.lever);
  json.at("zones").get_to(s.zones);
  json.at("applies").get_to(s.applies);
  json.at("predicts").get_to(s.predicts);
  json.at("why").get_to(s.why);
  const auto optional = [&](const char* key, auto& field) {
    if (json.contains(key)) json.at(key).get_to(field);
  };
  optional("target", s.target);
  optional("classes", s.classes);
  optional("when", s.when);
  optional("knobs", s.knobs);
  optional("evidence", s.evidence);
  optional("telling", s.telling);
  optional("rounding", s.rounding);
  optional("conflicts", s.conflicts);
  optional("needs", s.needs);
}

void to_json(Json& json, const AlignedStrategy& aligned) {
  json = Json{{"id", aligned.id}, {"presence", name_of(aligned.presence)}, {"evidence", aligned.evidence}};
}

void from_json(const Json& json, AlignedStrategy& aligned) {
  json.at("id").get_to(aligned.id);
  json.at("evidence").get_to(aligned.evidence);
  const auto name = json.at("presence").get<std::string>();
  for (const Presence presence : {Presence::present, Presence::struck, Presence::added, Presence::unknown})
    if (name == name_of(presence)) {
      aligned.presence = presence;
      return;
    }
  throw Json::type_error::create(302, "no presence is called '" + name + "'", &json);
}

KW_JSON_FIELDS(LedgerEntry, strategy, zone, workload_class, predicted, measured, failed, run, individual)

}  // namespace kw
