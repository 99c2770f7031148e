// What the evaluator and the runner say to each other: the spec that a runner starts from, and the numbers of the
// descriptors that it inherits. Messages are JSON texts on a SOCK_SEQPACKET socket, one object each:
//   evaluator: {"op":"rehearse"}  {"op":"load"}  {"op":"prepare"}  {"op":"show"}  {"op":"call","outs":[0,1],"poison":true}
//              {"op":"burst","calls":100}  {"op":"end"}
//   runner:    mapped, rehearsed, loading, loaded, prepared, shown, done, threw, crash, violation, failed   (field "event")
// A set of inputs is a file of its own. It comes as a descriptor with "show", right before the order that calls the kernel on it,
// so that no earlier call can reach it, and its pages take the place of the set before.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "opencl/launch_plan.h"

namespace kw::runner {

inline constexpr int kControlDescriptor = 3;
inline constexpr int kSpecDescriptor = 4;
inline constexpr int kDataDescriptor = 5;
inline constexpr std::size_t kMaxMessage = 1 << 17;
inline constexpr std::size_t kGuardBytes = 256 << 10;  // inaccessible memory on both sides of every buffer

enum class Role { input, weight, output, scalar };

// One argument of the kernel. Its region is whole pages; the data begins `lead` bytes into it, and what is left of the
// region around an output holds the poison as a canary.
struct Argument {
  std::string name;
  Role role = Role::input;
  std::uint64_t bytes = 0;
  std::uint64_t region = 0;
  std::uint64_t lead = 0;
  std::uint64_t poison = 0;  // an output's fill, 8 bytes repeated
};

// A GPU in the runner's process, for kernels in CUDA: a virtual one, or the machine's own.
struct GpuSpec {
  std::string library;  // libkw_cudart.so or NVIDIA's libcudart, as the runner sees it; empty: no GPU
  std::string gpu;      // a data sheet's id or file
  bool checks = true;
  bool counters = false;
  int threads = 1;            // of the host
  double launch_seconds = 0;  // that a launch may take
  double sample_seconds = 0;  // after which a launch begins no further block; 0: all run
  std::string facts;          // of ptxas, as JSON
  std::uint64_t seed = 0;     // of what no GPU promises: what unwritten memory holds, where blocks run

  bool real = false;              // what is above, but for the library, is then of no account
  int device = 0;                 // by the runtime's count
  std::uint64_t flush_bytes = 0;  // written before each call, so that caches hold nothing of its inputs
};

struct Spec {
  std::string object;  // the kernel's shared object, as the runner sees it
  int threads = 1;
  bool has_prepare = false;
  bool guarded = true;         // seccomp on; off only for the debug run under a sanitizer
  bool shared_weights = true;  // map the weights read-only and shared (contents change between calls) or copy them once
  int out_slots = 1;           // how many sets of outputs
  std::vector<Argument> arguments;
  GpuSpec gpu;
  opencl::LaunchPlan opencl;  // not empty: the object is an OpenCL program's binary

  // The data file has the weights' regions, and a set's file the inputs', both in the order of the arguments. A scalar is an input
  // whose region is one page with its 8 bytes.
};

void to_json(Json& json, const Argument& argument);
void from_json(const Json& json, Argument& argument);
void to_json(Json& json, const Spec& spec);
void from_json(const Json& json, Spec& spec);

// Whether an argument comes with each call.
bool is_input(const Argument& argument);

// Where the region of an argument begins in its file.
std::uint64_t file_offset(const Spec& spec, std::size_t argument);
std::uint64_t weights_bytes(const Spec& spec);
std::uint64_t inputs_bytes(const Spec& spec);  // of one set

}  // namespace kw::runner
