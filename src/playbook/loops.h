// Loop nests that several families share: the innermost loops that fill buffers, in vectors or one by one.
#pragma once

#include <string>
#include <vector>

#include "playbook/stage.h"

namespace kw {

// What an innermost loop fills: a value, element by element, into a buffer, moved by an offset (pieces of a concatenation).
struct Target {
  ValueId value = -1;
  ValueId root = -1;
  Index offset;
};

// The targets of a root: itself, or the pieces that it joins along a dimension not before `first_inner`.
std::vector<Target> targets_of(const StageWriter& writer, ValueId root, int first_inner);

// Whether what a root's buffer is filled with should go past the caches: wanted, large, and read by no later stage.
bool large_output(const StageWriter& writer, ValueId root);
// The same, and no other root of the stage reads it, or these read what was kept of it.
bool streams_past_cache(const StageWriter& writer, ValueId root);

// Writes an element of each target at an index, in the innermost scope.
void store_targets(StageWriter& writer, const std::vector<Target>& targets, const Index& index);

// one_vector: vectors along all dimensions as one, or trouble. any: that, vectors along the last dimension, or one by one,
// whichever has a form.
enum class InnerForm { one_vector, any, scalar };

// Loops over `dims` of the targets' shape, the others at `index`.
void write_inner_loops(StageWriter& writer, const std::vector<Target>& targets, const Index& index, const std::vector<int>& dims,
                       InnerForm form);

// From here on vector loads ask for what comes after them, if that is wanted, until Emitter::prefetch is cleared.
void ask_ahead(StageWriter& writer);

// The vector loop over [begin, end) of `count` elements, with its rest; `body` gets the variable.
void write_vector_loop(StageWriter& writer, std::int64_t count, const std::string& begin, const std::string& end,
                       const std::function<void(VarId)>& body);

// How reductions are to be written, by what is wanted.
ReduceStyle wanted_reduce_style(StageWriter& writer);
// After reductions were emitted: knobs of what took effect.
void claim_emitted(StageWriter& writer);

// Text for a whole number of loop iterations over several dimensions as one variable.
std::int64_t product_of(const Shape& shape, const std::vector<int>& dims);
Shape shape_of_dims(const Shape& shape, const std::vector<int>& dims);
// `index` with the given dimensions from `parts`.
Index with_dims(Index index, const std::vector<int>& dims, const Index& parts);

}  // namespace kw
