// What a task is about, in words for prompts: made from records, with the numbers behind every claim.
#pragma once

#include <string>
#include <vector>

#include "record/problem.h"
#include "record/run.h"
#include "record/strategy.h"
#include "strategy/ledger.h"
#include "strategy/pool.h"

namespace kw {

struct TaskBrief {
  ProblemDescription problem;
  std::string problem_source;  // the Python file
  std::string declaration;     // of kw_kernel, as problem.h has it
  std::string zone, workload_class;
  std::string zone_numbers;  // "2.1 FLOPs per byte; the ridge is at 14"
  std::string ceilings;      // of the machine
  std::string precision = "float32";
  std::string dsl = "cpp";
  Features features;
  [[nodiscard]] bool on_gpu() const { return is_for_gpu(dsl); }
};

// "addmm = aten.addmm(bias, x, permute) -> float32[128, 64]", a line a node; at most this many.
std::string graph_summary(const ProblemDescription& problem, std::size_t most_lines);

// One node of a graph, and one argument of a node, as the summary has them.
std::string graph_line(const Json& node);
std::string graph_argument(const Json& argument);

// "x: read-only float32[128, 64]": a tensor, and a line a tensor.
std::string tensor_line(const TensorSpec& spec);
std::string tensor_lines(const ProblemDescription& problem);

// The class Model of a problem's file, without the rest.
std::string model_class(const std::string& problem_source);

// Rows of the ledger that say most: many measurements, far from what was promised, of this zone and class before others.
std::string telling_rows(const Ledger& ledger, const std::string& zone, const std::string& workload_class, std::size_t most);

// "vectorise/explicit_vectors: write inner loops with vector types (predicts 2x): why".
std::string strategy_line(const Strategy& strategy, bool with_reason);

// A measured number for a prompt: two timings of the same kernel should read the same, so noise is rounded away. 1.83 -> "1.8",
// 0.052 -> "0.05", 14.2 -> "14".
std::string roughly(double number);

// An individual in one line: who, what, how fast.
std::string individual_line(const Individual& individual);

// A diagnosis as its record has it, quoted. Compact: nothing that another draw of inputs or another machine would change.
std::string diagnosis_text(Verdict verdict, const Diagnosis& diagnosis, bool compact);

}  // namespace kw
