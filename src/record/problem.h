// A problem as the oracle describes it: the tensors of its contract, its graph, and what is known of its cost.
#pragma once

#include <optional>

#include "record/tensor.h"

namespace kw {

// How far apart the outputs are, on the tolerance's own scale, when the input changes.
struct Sensitivity {
  double other_input = 0;  // same weights, another input: median |difference| / tolerance
  double zeros = 0;        // the output against all zeros
  double constant = 0;     // the output against its own mean
  bool telling = true;
  std::string note;
};

struct ProblemDescription {
  std::string name;         // the file's stem
  std::string file;         // where it was read from
  std::string source_hash;  // sha256 of the file
  std::string torch_version;
  std::vector<TensorSpec> inputs;      // tensors and scalars in get_inputs() order
  std::vector<TensorSpec> parameters;  // state_dict() order, then plain tensor attributes
  std::vector<TensorSpec> outputs;
  Json call;                    // how Model and forward() are called; null where that cannot be told
  Json graph;                   // null where torch.export failed; see docs/oracle-protocol.md
  std::string graph_error;      // why
  std::optional<double> flops;  // of the graph as written
  double bytes = 0;             // every input and parameter read once, every output written once
  double essential_bytes = 0;   // the part of them without which the output cannot be right
  double eager_bytes = 0;       // what eager computes and keeps at once, outputs included; 0: not known
  Sensitivity sensitivity;
  std::vector<std::string> notes;

  // The order of the kernel's arguments: inputs, parameters, outputs.
  [[nodiscard]] std::vector<const TensorSpec*> arguments() const;
};

void to_json(Json& json, const ProblemDescription& problem);
void from_json(const Json& json, ProblemDescription& problem);

}  // namespace kw
