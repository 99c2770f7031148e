// What a stage of a CUDA source is written with, and the ordered list of its families. A stage is one or more kernels that fill the
// buffers of its roots.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "playbook/emit.h"
#include "playbook/gpu_playbook.h"
#include "playbook/plan.h"

namespace kw {

// One __global__ function while it is written, and how it is launched. What it claims counts once it is finished.
struct GpuKernel {
  GpuKernel(const Graph& graph, std::set<std::string> reserved) : e(graph, std::move(reserved)) {}
  Emitter e;
  std::string name;
  std::string grid = "1";       // blocks: a text of whole numbers and knobs, or "dim3(...)"
  std::string threads = "256";  // of a block
  std::string blocks_per_sm;    // second argument of __launch_bounds__; empty: none
  std::string shared_bytes;     // dynamic shared memory; empty: none
  bool prepare = false;         // OpenCL: launched once for each set of weights
  std::set<std::string> claims;
  std::set<std::string> pieces;  // of knowledge/playbook/gpu where a name has several forms
  std::vector<Knob> knobs;
  std::vector<std::string> constraints;
  std::vector<std::string> declarations;  // before the kernel

  // A macro with this default, declared once a source; answers with its name.
  std::string knob(const std::string& knob_name, std::int64_t standard, const std::vector<std::int64_t>& values);
  void claim(const std::string& strategy) { claims.insert(strategy); }
};

class GpuWriter {
 public:
  GpuWriter(const ProblemDescription& problem, const Graph& graph, const Plan& plan, const GpuFacts& gpu,
            const std::set<std::string>& strategies, GpuDialect written);

  const ProblemDescription& problem;
  const Graph& graph;
  const Plan& plan;
  const GpuFacts& gpu;
  const GpuDialect dialect;
  const bool cute;  // CuTe: arguments are tensors in the kernel, vectors are copies of tiles

  [[nodiscard]] bool wants(const std::string& strategy) const { return strategies_.contains(strategy); }
  // Vectors as kw_vec, which CUDA-C and OpenCL C have, and how many floats that may be.
  [[nodiscard]] bool wants_vectors() const { return !cute && wants("vector_load"); }
  [[nodiscard]] std::int64_t most_lanes() const { return dialect == GpuDialect::opencl ? 16 : 4; }
  // CuTe: what is in memory under this name, as a pointer that tensors are made of.
  [[nodiscard]] std::string iterator(const std::string& name) const;
  [[nodiscard]] const Buffer& buffer(ValueId value) const { return plan.buffers.at(value); }
  // A new kernel that reads what earlier stages have written.
  GpuKernel kernel(const std::string& hint) const;
  // The kernel's text and launch become part of the source. False, and nothing happens: its emitter had trouble.
  bool finish(GpuKernel& kernel);
  // Memory between kernels; its name.
  std::string scratch(const std::string& hint, std::string_view element_type, const std::string& count);
  void done(const Stage& stage);                                                      // its roots are in memory from now on
  void remember(ValueId value, const Buffer& buffer) { in_memory_[value] = buffer; }  // this value too
  // The number of threads of a block: 256, or a knob where launch_shape is wanted.
  std::string block_threads(GpuKernel& kernel, std::int64_t standard, const std::vector<std::int64_t>& values) const;
  // __launch_bounds__ with a number of blocks that have to fit an SM, where occupancy is wanted.
  void bound_registers(GpuKernel& kernel) const;

 private:
  friend class GpuText;
  friend class OpenClText;
  bool finish_in_opencl(GpuKernel& kernel, const std::string& body);
  void take_over(const GpuKernel& kernel);  // its claims, pieces, tables and knobs
  std::set<std::string> strategies_;
  std::set<std::string> reserved_;
  std::map<ValueId, Buffer> in_memory_;
  std::set<std::string> claims_;
  std::set<std::string> pieces_;
  std::set<ValueId> tables_;
  std::vector<Knob> knobs_;
  std::vector<std::string> constraints_;
  std::vector<std::string> declarations_;
  std::string kernels_;
  std::string launches_;
  struct OpenClMemory {
    std::string name, type, count;
  };
  std::vector<OpenClMemory> opencl_scratch_;  // a parameter of every kernel that uses it
};

// A family of stages, tried in the order of gpu_families(); the last takes everything.
struct GpuFamily {
  const char* name;
  // False: it cannot write this stage with what is wanted, and nothing has happened.
  bool (*write)(GpuWriter& writer, const Stage& stage);
};

std::span<const GpuFamily> gpu_families(GpuDialect dialect);

extern const GpuFamily gpu_product_family;     // tiles of a product in shared memory
extern const GpuFamily gpu_tensor_family;      // tiles by tensor cores
extern const GpuFamily gpu_rows_family;        // a warp or a block for each row
extern const GpuFamily gpu_split_family;       // few results of long reductions, shared out over blocks
extern const GpuFamily gpu_transpose_family;   // movements that neither reads nor writes side by side, through shared memory
extern const GpuFamily gpu_flat_family;        // pointwise, in vectors
extern const GpuFamily gpu_naive_family;       // one thread for each element
extern const GpuFamily opencl_product_family;  // tiles in registers, panels in memory
extern const GpuFamily opencl_rows_family;     // a work-item for each row, or for several columns
extern const GpuFamily cute_product_family;    // tiled copies and tiled products of CuTe
extern const GpuFamily cute_rows_family;       // rows in fragments
extern const GpuFamily cute_flat_family;       // pointwise, in fragments

// Pieces that families share.
std::string blocks_for(std::int64_t count, const std::string& each);  // "(1000 + KW_THREADS - 1) / KW_THREADS"
// Stores an element of each root at an index, in the innermost scope.
void store_roots(GpuWriter& writer, GpuKernel& kernel, const Stage& stage, const Index& index);

}  // namespace kw
