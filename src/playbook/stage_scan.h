// What the stages of scans, windows and argument reductions have in common. It decides nothing about loops.
#pragma once

#include <string>

#include "playbook/stage.h"

namespace kw {

// Value::number of a scan that runs from the last position to the first.
inline constexpr double kScanFromTheEnd = 1;
// And of one whose values are what the elements before each come to: it begins with what a running value starts from.
inline constexpr double kScanOfBefore = 2;

// Empty where every root of the stage has as many elements as the anchor, so that one loop over the anchor's positions fills them.
std::string roots_not_like_anchor(const StageWriter& writer, const Stage& stage);

// The anchor's element at `index` is `value` from now on, as long as the innermost scope is open; writes the roots' elements there.
void store_roots(StageWriter& writer, const Stage& stage, const Index& index, const Expr& value);

// The loop over all positions of `shape` as one (parallel where wanted); answers with the position in each dimension. A single
// position takes no loop: what depends on no variable belongs to the outermost scope.
Index open_flat_loop(StageWriter& writer, const std::string& hint, const Shape& shape, std::int64_t elements);
void close_flat_loop(StageWriter& writer, const Shape& shape);

// for (begin; ...; += 1 or kw_lanes) { with positions in [0, extent): a vector loop runs while a whole vector is left before `end`.
VarId open_part(Emitter& emitter, const std::string& hint, std::int64_t extent, const std::string& begin, const std::string& end,
                bool vector);

// The same in vectors up to `end`: where a whole vector does not end there, the last one begins before the one before it has ended,
// and writes what is there once more. Needs kMostLanes positions for that; with fewer, leaves_some() says that the rest is still to
// be done, from vector_end() on.
VarId open_vectors(Emitter& emitter, const std::string& hint, std::int64_t extent, std::int64_t begin, std::int64_t end);
bool leaves_some(std::int64_t begin, std::int64_t end);

// Where the vector loop from `begin` to `end` stops.
std::string vector_end(std::int64_t begin, std::int64_t end);

// A load with a stride of 2 straight from memory, by shuffles; empty where the value is not in memory or has another stride.
std::string strided_load(StageWriter& writer, ValueId value, const Index& index, VarId vector);

// kw_every<stride>(p): p[0], p[stride], ... as a vector; declared in the kernel's text.
void declare_every(StageWriter& writer);

}  // namespace kw
