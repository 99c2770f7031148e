// What a stage of a kernel in Triton or TileLang is written with, and the ordered lists of families. A stage is one or more kernels
// that fill the buffers of its roots.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "playbook/gpu_playbook.h"
#include "playbook/plan.h"
#include "playbook/py_emit.h"

namespace kw {

// One kernel while it is written, and how it is launched.
struct PyKernel {
  PyKernel(const Graph& graph, PyDialect dialect, std::set<std::string> reserved, int indent)
      : e(graph, dialect, std::move(reserved), indent) {}
  PyEmitter e;
  std::string name;
  std::vector<std::string> grid{"1"};  // texts of whole numbers and knobs
  std::string warps = "4";             // Triton: num_warps
  std::string stages = "1";            // Triton: num_stages
  std::string threads = "128";         // TileLang
  std::set<std::string> claims;
  std::set<std::string> helpers;
  std::vector<Knob> knobs;
  std::vector<std::string> constraints;
  std::string knob(const std::string& knob_name, std::int64_t standard, const std::vector<std::int64_t>& values);
  void claim(const std::string& strategy) { claims.insert(strategy); }
};

class PyWriter {
 public:
  PyWriter(const ProblemDescription& problem, const Graph& graph, const Plan& plan, const GpuFacts& gpu,
           const std::set<std::string>& strategies, PyDialect dialect);
  const ProblemDescription& problem;
  const Graph& graph;
  const Plan& plan;
  const GpuFacts& gpu;
  const PyDialect dialect;

  [[nodiscard]] bool wants(const std::string& strategy) const { return strategies_.contains(strategy); }
  [[nodiscard]] const Buffer& buffer(ValueId value) const { return plan.buffers.at(value); }
  [[nodiscard]] PyKernel kernel(const std::string& hint) const;
  // The kernel's text and launch become part of the source. False, and nothing happens: its emitter had trouble.
  bool finish(PyKernel& kernel);
  // Memory between kernels; its name. `count` may name knobs.
  std::string scratch(const std::string& hint, DType dtype, const std::string& count);
  void done(const Stage& stage);
  // num_warps: 4, or a knob where launch_shape is wanted.
  void choose_warps(PyKernel& kernel, std::int64_t standard) const;

 private:
  friend class PyText;
  struct Memory {
    std::string name;
    DType dtype = DType::f32;
    std::string count;
  };
  [[nodiscard]] std::string triton_kernel(const PyKernel& kernel, const std::string& body, const std::vector<std::string>& names);
  [[nodiscard]] std::string tilelang_kernel(const PyKernel& kernel, const std::string& body, const std::vector<std::string>& names);
  std::set<std::string> strategies_;
  std::set<std::string> reserved_;
  std::map<ValueId, Buffer> in_memory_;
  std::set<std::string> claims_;
  std::set<std::string> helpers_;
  std::set<std::string> kernel_names_;
  std::vector<Knob> knobs_;
  std::vector<std::string> constraints_;
  std::vector<Memory> memories_;
  std::string kernels_;
  std::string launches_;
  std::string trouble_;  // of the last kernel that had some
};

struct PyFamily {
  const char* name;
  // False: it cannot write this stage with what is wanted, and nothing has happened.
  bool (*write)(PyWriter& writer, const Stage& stage);
};
std::span<const PyFamily> py_families(PyDialect dialect);

extern const PyFamily triton_product_family;    // blocks of a product by tl.dot
extern const PyFamily triton_rows_family;       // a block of whole rows, or of parts of them
extern const PyFamily triton_transpose_family;  // blocks in two dimensions
extern const PyFamily triton_flat_family;       // one element a lane: takes everything
extern const PyFamily tilelang_product_family;  // tiles in shared memory, a tile of sums a thread
extern const PyFamily tilelang_rows_family;     // a block's threads share a row
extern const PyFamily tilelang_flat_family;     // one element a thread: takes everything

// The whole source.
Result<Kernel> write_python_kernel(const ProblemDescription& problem, const Graph& graph, const std::vector<ValueId>& outputs,
                                   const GpuFacts& gpu, const std::set<std::string>& strategies, PyDialect dialect);

// Stores an element, or a block of them, of each root at an index.
void store_roots(PyWriter& writer, PyKernel& kernel, const Stage& stage, const Index& index);
// The scan at the heart of a stage, each row by one lane or thread.
void write_running(PyWriter& writer, PyKernel& kernel, ValueId root, ValueId scan, const Affine& row);
// Elements of the longest reduction that is the same for a whole row; 0: the innermost dimension is not reduced.
std::int64_t longest_row(const PyWriter& writer, const Stage& stage);
// Takes every stage: a lane or thread does an element of a root, or a row where rows are reduced or scanned. `begin` writes how the
// `count` of them are shared out and gives the number of one; it may open blocks of the text and tells how many.
struct FlatPlace {
  Affine at;
  int opened = 0;
};
bool write_flat(PyWriter& writer, const Stage& stage, const std::function<FlatPlace(PyKernel& kernel, std::int64_t count)>& begin);

// What products in both languages are written with: sizes, where operands lie, and what follows the product.
class PyProduct {
 protected:
  PyProduct(PyWriter& writer, const Stage& stage);
  // Of floats, which sums in float32 serve.
  static bool writes(const PyWriter& writer, const Stage& stage);
  [[nodiscard]] bool in_memory(std::size_t operand) const;
  // Stores the stage's roots at an index of the product, whose value there is `sum` in float32.
  void finish_at(PyKernel& kernel, const Index& index, PyExpr sum);
  PyWriter& writer_;
  const Stage& stage_;
  const Value& value_;
  PyKernel kernel_;
  PyEmitter& e_;
  std::int64_t batches_, rows_, columns_, depth_;
};
std::string ceil_div(std::int64_t count, const std::string& each);
std::int64_t next_power_of_two(std::int64_t count);
// Strategies that shape plans, by what pools for GPUs call them; and the other way round.
std::set<std::string> gpu_plan_words(const std::set<std::string>& strategies, bool prologues);
void claim_gpu_plan(const Plan& plan, std::set<std::string>& claims);

}  // namespace kw
