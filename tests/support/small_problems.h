// Descriptions of problems that exist only in tests, for what needs no oracle.
#pragma once

#include <string>
#include <vector>

#include "record/problem.h"

namespace kw::testing {

// A contiguous tensor.
inline TensorSpec tensor(const std::string& name, TensorKind kind, std::vector<std::int64_t> shape, DType dtype = DType::f32) {
  TensorSpec spec;
  spec.name = spec.c_name = name;
  for (char& c : spec.c_name)
    if (c == '.') c = '_';
  spec.dtype = dtype;
  spec.kind = kind;
  spec.shape = std::move(shape);
  spec.strides.resize(spec.shape.size());
  std::int64_t step = 1;
  for (std::size_t i = spec.shape.size(); i-- > 0;) {
    spec.strides[i] = step;
    step *= spec.shape[i];
  }
  spec.span = step;
  return spec;
}

inline TensorSpec scalar(const std::string& name, DType dtype, double value) {
  TensorSpec spec;
  spec.name = spec.c_name = name;
  spec.dtype = dtype;
  spec.kind = TensorKind::scalar;
  spec.value = value;
  return spec;
}

inline ProblemDescription problem_of(std::vector<TensorSpec> inputs, std::vector<TensorSpec> parameters,
                                     std::vector<TensorSpec> outputs) {
  ProblemDescription problem;
  problem.name = "small";
  problem.file = "small.py";
  problem.source_hash = "0";
  problem.torch_version = "0";
  problem.inputs = std::move(inputs);
  problem.parameters = std::move(parameters);
  problem.outputs = std::move(outputs);
  return problem;
}

// out[n] from x[n].
inline ProblemDescription vector_problem(std::int64_t n) {
  return problem_of({tensor("x", TensorKind::input, {n})}, {}, {tensor("out", TensorKind::output, {n})});
}

}  // namespace kw::testing
