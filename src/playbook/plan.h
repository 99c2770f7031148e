// Decides which values get memory and in which order stages fill it. It writes no text.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "playbook/attention.h"
#include "playbook/emit.h"
#include "playbook/value.h"
#include "record/problem.h"

namespace kw {

// One stage: loops that fill the buffers of the roots. What the roots need and is not in memory is computed in the loops.
struct Stage {
  std::vector<ValueId> roots;  // each is in Plan::buffers; of one shape where there are several, or of that shape's leading part
  // The product, convolution, window, scan or argument reduction at the heart of it, -1 if there is none. The root is the anchor
  // itself or a pointwise function of it that reads it at the root's own position only (reshapes apart): an epilogue.
  ValueId anchor = -1;
  // Dimensions of the first root on which the reductions inside depend: a row is one position of them. All of them where there
  // are no reductions inside.
  std::vector<int> row_dims;
  bool has_reductions = false;
};

struct Plan {
  std::vector<Stage> stages;
  std::map<ValueId, Buffer> buffers;  // of all roots; scratch buffers are named by the kernel's text
  std::vector<std::string> fused;     // strategies that shaped the plan: fuse_chain, fuse_row_passes, fuse_epilogue, fuse_prologue
  std::set<ValueId> read_again;       // roots that a later stage reads
  std::set<ValueId> read_back;        // roots that others of their own stage read
  std::set<ValueId> written_over;     // roots that are written over what their stage reads; known when memory was placed
  std::map<ValueId, Attention> attentions;  // by their results, which are anchors: what is inside has neither memory nor a stage
  std::set<ValueId> from_parameters;        // values that depend on parameters and constants alone
  std::set<ValueId> prepared;               // of these: in memory before the first stage, made by kw_prepare; no stage fills them
};

// The values of the problem's outputs, in order.
struct PlannedOutputs {
  std::vector<ValueId> values;
  std::vector<const TensorSpec*> specs;
  bool halves = false;    // whether what PyTorch multiplies in 16 bits may lie so in memory between stages
  bool prologues = true;  // whether a product can read what is computed: copies of CuTe's move what is in memory
  bool may_move = false;  // whether what is moved into an output may be stored there at once, each element at its place
};

Plan make_plan(const Graph& graph, const PlannedOutputs& outputs, const std::set<std::string>& strategies, int threads,
               const std::map<ValueId, std::string>& prepared = {});

}  // namespace kw
