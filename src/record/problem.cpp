#include "record/problem.h"

namespace kw {

std::vector<const TensorSpec*> ProblemDescription::arguments() const {
  std::vector<const TensorSpec*> all;
  for (const auto* group : {&inputs, &parameters, &outputs})
    for (const auto& spec : *group) all.push_back(&spec);
  return all;
}

void to_json(Json& json, const ProblemDescription& p) {
  json = Json{{"name", p.name},
              {"file", p.file},
              {"source_hash", p.source_hash},
              {"torch", p.torch_version},
              {"inputs", p.inputs},
              {"parameters", p.parameters},
              {"outputs", p.outputs},
              {"call", p.call},
              {"graph", p.graph},
              {"graph_error", p.graph_error},
              {"flops", p.flops ? Json(*p.flops) : Json()},
              {"bytes", p.bytes},
              {"essential_bytes", p.essential_bytes},
              {"eager_bytes", p.eager_bytes},
              {"sensitivity",
               {{"other_input", p.sensitivity.other_input},
                {"zeros", p.sensitivity.zeros},
                {"constant", p.sensitivity.constant},
                {"telling", p.sensitivity.telling},
                {"note", p.sensitivity.note}}},
              {"notes", p.notes}};
}

void from_json(const Json& json, ProblemDescription& p) {
  json.at("name").get_to(p.name);
  json.at("file").get_to(p.file);
  json.at("source_hash").get_to(p.source_hash);
  json.at("torch").get_to(p.torch_version);
  json.at("inputs").get_to(p.inputs);
  json.at("parameters").get_to(p.parameters);
  json.at("outputs").get_to(p.outputs);
  p.call = json.value("call", Json());
  p.graph = json.at("graph");
  json.at("graph_error").get_to(p.graph_error);
  if (const auto& flops = json.at("flops"); !flops.is_null()) p.flops = flops.get<double>();
  json.at("bytes").get_to(p.bytes);
  json.at("essential_bytes").get_to(p.essential_bytes);
  p.eager_bytes = json.value("eager_bytes", 0.0);
  const auto& s = json.at("sensitivity");
  s.at("other_input").get_to(p.sensitivity.other_input);
  s.at("zeros").get_to(p.sensitivity.zeros);
  s.at("constant").get_to(p.sensitivity.constant);
  s.at("telling").get_to(p.sensitivity.telling);
  s.at("note").get_to(p.sensitivity.note);
  json.at("notes").get_to(p.notes);
}

}  // namespace kw
