// What a stage of a kernel is written with, and the ordered list of stage families. A stage fills the buffers of its roots.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "playbook/emit.h"
#include "playbook/plan.h"
#include "record/kernel.h"

namespace kw {

struct MachineFacts {
  int threads = 1;
  double l1_bytes = 32 * 1024;
  double l2_bytes = 1024 * 1024;
  double l3_bytes = 16 * 1024 * 1024;
  int vector_bytes = 32;  // of this machine; the text is for any
};

// The most lanes any target has (AVX-512): a row that is a multiple of it has no rest anywhere.
inline constexpr std::int64_t kMostLanes = 16;

// Writes one kernel, stage after stage. Claims are made where a strategy takes effect: use().
class StageWriter {
 public:
  StageWriter(const Graph& graph, const Plan& plan, const MachineFacts& machine, std::set<std::string> strategies,
              std::set<std::string> reserved);

  const Graph& graph;
  const Plan& plan;
  const MachineFacts& machine;
  Emitter emitter;  // of the kernel's body

  [[nodiscard]] bool wants(const std::string& strategy) const { return strategies_.contains(strategy); }
  // Wanted? Then it is claimed; call it where the text really does it.
  bool use(const std::string& strategy);
  void claim(const std::string& strategy) { claims_.insert(strategy); }
  // A macro with this default, declared once a kernel; answers with its name. The default is among the values.
  std::string knob(const std::string& name, std::int64_t standard, const std::vector<std::int64_t>& values);
  void require(const std::string& condition);  // over knobs: "KW_MR * KW_NR <= 96"
  // A static array of the kernel's file, aligned to 64 bytes, zero at first; its name. `per_thread`: thread_local. `count` may be a
  // constant expression over knobs.
  std::string scratch(const std::string& hint, std::string_view element_type, const std::string& count, bool per_thread = false);
  void named_scratch(const std::string& name, std::string_view element_type, const std::string& count, bool per_thread = false);
  // From now on scratch() that is no thread's own lies in the file's kw_work, which several functions share one after the other.
  void share_scratch() { work_end_ = "0"; }
  // A function or type of the file, before the kernel; put there once for each distinct text.
  void declare(const std::string& text);
  // Floats that kw_prepare fills once for each set of weights: `fill` writes into `emitter` as given (not the kernel's) what fills
  // `name`, from values that depend on parameters alone (plan.from_parameters). Answers with the pointer's name in the kernel.
  std::string prepared(const std::string& hint, const std::string& count,
                       const std::function<void(Emitter& emitter, const std::string& name)>& fill);
  // The same for a value of parameters alone: from now on it is in memory. The kernel's memory is its buffer's name.
  void prepare_value(ValueId value);
  // The buffer of a root or of another materialised value.
  [[nodiscard]] const Buffer& buffer(ValueId value) const { return plan.buffers.at(value); }
  // "#pragma omp parallel for schedule(static)" where parallel_outer is wanted (and claims it, with balanced_schedule), else "".
  // `iterations` of the loop below it; a loop of one iteration, or of little work (elements in all), has none.
  std::string parallel_pragma(std::int64_t iterations, std::int64_t elements, bool uneven = false);

  // A trial: runs `write`; if the emitter had trouble (no vector form), everything written and claimed is undone. True: it stands.
  bool attempt(const std::function<void()>& write);

  void comment(const std::string& text) { emitter.line("// " + text); }

 private:
  friend class KernelText;
  struct Prepared {
    std::string name;
    std::string count;
    std::string text;
  };
  std::map<ValueId, Buffer> prepared_values_;
  std::set<std::string> strategies_;
  std::set<std::string> claims_;
  std::vector<Knob> knobs_;
  std::vector<std::string> constraints_;
  std::vector<std::string> declarations_;
  std::vector<Prepared> prepared_;
  std::string work_end_;  // bytes of kw_work that are taken; empty: arrays are the function's own
};

// A family of stages. The list is tried in order; naive, the last, takes everything.
struct Family {
  const char* name;
  // Empty: it can write this stage with what is wanted. Otherwise why not, in a few words.
  std::string (*why_not)(const StageWriter& writer, const Stage& stage);
  // Writes the stage: loops that fill the buffers of its roots. With the emitter at the kernel's top level, and left there.
  void (*write)(StageWriter& writer, const Stage& stage);
};

std::span<const Family> families();

// One per file; the list is stage.cpp's.
extern const Family attention_family;  // products that are attention by the plan
extern const Family product_family;    // anchors of kind product
extern const Family convolution_family;
extern const Family window_family;
extern const Family scan_family;
extern const Family arg_family;
extern const Family recurrence_family;
extern const Family rows_family;     // reductions and outputs over the same rows
extern const Family columns_family;  // the same where the innermost dimension is not the reduced one
extern const Family whole_family;    // few results of long reductions
extern const Family flat_family;     // pointwise
extern const Family naive_family;    // one scalar loop nest for each root

}  // namespace kw
