// How the kernels of an OpenCL C file are launched: in which order, over which range, on which tensors. It is worked out from the
// file's own launch lines before anything runs, so that a kernel's author writes no host code at all.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace kw::opencl {

// What a parameter of a kernel gets: a tensor or a scalar of the problem, scratch memory of the file, a whole number.
enum class Gives { tensor, scalar, scratch, number };

struct Parameter {
  Gives gives = Gives::tensor;
  int index = 0;            // of the problem's argument, or of the scratch
  std::int64_t number = 0;  // by value
  int bytes = 0;            // of a value
};

struct Launch {
  std::string kernel;
  bool prepare = false;  // once for each set of weights, before the calls
  std::array<std::uint64_t, 3> global{1, 1, 1}, local{1, 1, 1};
  std::vector<Parameter> parameters;
};

struct LaunchPlan {
  std::vector<std::uint64_t> scratch_bytes;
  std::vector<Launch> launches;  // in order
  [[nodiscard]] bool empty() const { return launches.empty(); }
};

void to_json(Json& json, const Parameter& parameter);
void from_json(const Json& json, Parameter& parameter);
void to_json(Json& json, const Launch& launch);
void from_json(const Json& json, Launch& launch);
void to_json(Json& json, const LaunchPlan& plan);
void from_json(const Json& json, LaunchPlan& plan);

// What a compiled program says of its kernels.
struct ParameterFacts {
  std::string name, type;  // "x", "float*"
  std::string memory;      // global, constant, local or private
};
struct KernelFacts {
  std::string name;
  std::vector<ParameterFacts> parameters;
  std::uint64_t most_work_items = 0;                     // of a work-group
  std::array<std::uint64_t, 3> required_local{0, 0, 0};  // reqd_work_group_size; zeros: none
};

void to_json(Json& json, const ParameterFacts& facts);
void from_json(const Json& json, ParameterFacts& facts);
void to_json(Json& json, const KernelFacts& facts);
void from_json(const Json& json, KernelFacts& facts);

}  // namespace kw::opencl
