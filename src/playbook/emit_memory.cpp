// Loads and stores: elements and vectors of them, of every type that has a form in lanes.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "playbook/emit.h"

namespace kw {
namespace {

// The end of the names of pieces for a type that becomes floats in lanes; empty: it has no such form. Whole numbers of more bits
// than a float's would be rounded.
std::string lanes_of(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return "_f16";
    case DType::bf16:
      return "_bf16";
    case DType::i8:
      return "_i8";
    case DType::u8:
      return "_u8";
    case DType::i16:
      return "_i16";
    default:
      return "";
  }
}

}  // namespace

Expr Emitter::load(const std::string& pointer, const Affine& position, DType dtype) {
  const VarId vector = vector_variable(position);
  const std::string at = text(position);
  const int own_depth = depth_of({position});
  note_order(position);
  if (vector < 0) {
    const std::string element = fmt::format("{}[{}]", pointer, at);
    if (dtype == DType::f16 || dtype == DType::bf16)
      return {fmt::format("{}({})", cuda ? fmt::format("kw{}_wide", lanes_of(dtype)) : "kw_to_float", element), dtype, false,
              own_depth};
    if (!is_floating(dtype) && dtype != DType::boolean && dtype != DType::i64)
      return {fmt::format("std::int64_t(+{})", element), dtype, false,
              own_depth};  // "+": a type and a name alone may be a declaration
    return {element, dtype, false, own_depth};
  }
  const std::int64_t stride = position.coefficient(vector);
  const std::string address = at == "0" ? pointer : fmt::format("{} + {}", pointer, at);
  if (dtype == DType::boolean && stride == 1 && vector != part_of)
    return {fmt::format("kw_load_mask({})", address), dtype, true, own_depth};
  const std::string as_lanes = lanes_of(dtype);
  if (dtype != DType::f32 && as_lanes.empty()) {
    set_trouble(fmt::format("{} in lanes", torch_name(dtype)));
    return {"0", dtype, true, own_depth};
  }
  if (vector == part_of) {
    if (stride != 1) set_trouble("lanes that do not count, apart in memory");
    need_overload("load_part" + as_lanes);
    return {fmt::format("kw_load_part({}, {})", address, part), dtype, true, own_depth};
  }
  const bool side_by_side = stride == 1 && (!cuda || is_aligned(position, vector));
  need_overload((side_by_side ? "load" : "gather") + as_lanes);
  // What is the same for every row stays in cache after the first one.
  constexpr std::int64_t kStays = 32 * 1024;
  const Variable& along = variables_[static_cast<std::size_t>(vector)];
  const bool stays = position.terms.size() == 1 && along.range.high < kStays;
  if (stride == 1 && !prefetch.empty() && !stays && !in_cache.contains(pointer) && along.depth == depth()) {
    use("prefetch_ahead");
    line(fmt::format("__builtin_prefetch(reinterpret_cast<const char*>({}) + {});", address, prefetch));
  }
  if (stride == 1 && next_row.bytes > 0 && position.terms.size() > 1) {
    auto& loads = next_row.loads[vector];
    if (const RowLoad own{pointer, position}; std::ranges::find(loads, own) == loads.end()) loads.push_back(own);
  }
  if (side_by_side) return {fmt::format("kw_load({})", address), dtype, true, own_depth};
  return {fmt::format("kw_gather({}, {})", address, stride), dtype, true, own_depth};
}

VarId Emitter::open_tail(std::int64_t count) {
  if (part_of >= 0) set_trouble("what is left over, within what is left over");
  const std::string left = unique("left");
  open(fmt::format("if (constexpr int {0} = {1} % kw_lanes; {0} != 0) {{", left, count));
  part = left;
  part_of = define("j", fmt::format("{} - {}", count, left), {0, count - 1}, true);
  use("masked_tails");
  return part_of;
}

void Emitter::close_tail() {
  part_of = -1;
  part.clear();
  close();
}

Expr Emitter::within_part(const Expr& value, const std::string& otherwise) {
  if (part_of < 0) return value;
  for (const char* piece : {"first", "select", "splat"}) need(piece);
  return {fmt::format("kw_select(kw_first({}), {}, kw_splat({}))", part, as_vector(value).text, otherwise), value.dtype, true};
}

bool Emitter::is_aligned(const Affine& position, VarId vector) {
  constexpr std::int64_t kLanes = 4;
  bool aligned = position.constant % kLanes == 0;
  for (const auto& [var, coefficient] : position.terms) aligned = aligned && (var == vector || coefficient % kLanes == 0);
  return aligned;
}

void Emitter::store(const Buffer& buffer, const Index& index, const Expr& value, bool stream, bool any_start) {
  const Affine position = position_in(buffer, index);
  const VarId vector = vector_variable(position);
  const std::string at = text(position);
  if (vector < 0) {
    const Expr element = converted(value, buffer.dtype);
    if (element.vector) set_trouble("a vector for one element");
    std::string stored = is_16_bit(buffer.dtype) ? before_rounding(element) : element.text;
    if (buffer.dtype == DType::f16) stored = fmt::format("{}({})", cuda ? "kw_f16_of" : "kw_f16_from_float", stored);
    if (buffer.dtype == DType::bf16) stored = fmt::format("{}({})", cuda ? "kw_bf16_of" : "kw_bf16_from_float", stored);
    line(fmt::format("{}[{}] = {};", buffer.name, at, stored));
    return;
  }
  const bool half = is_16_bit(buffer.dtype);
  const std::string as_lanes = lanes_of(buffer.dtype);
  const std::string stored = half ? before_rounding(as_vector(converted(value, buffer.dtype))) : as_vector(value).text;
  const std::int64_t apart = position.coefficient(vector);
  if (apart > 1 && (half || buffer.dtype == DType::f32) && !buffer.moves.empty()) {
    need_overload("scatter" + as_lanes);
    line(fmt::format("kw_scatter({} + {}, {}, {}{});", buffer.name, at, apart, stored, vector == part_of ? ", " + part : ""));
    return;
  }
  if ((!half && buffer.dtype != DType::f32) || apart != 1) {
    set_trouble("stores that are no floats next to each other");
    return;
  }
  if (vector == part_of) {
    need_overload("store_part" + as_lanes);
    line(fmt::format("kw_store_part({} + {}, {}, {});", buffer.name, at, stored, part));
    return;
  }
  if (cuda) {
    const std::string way = is_aligned(position, vector) ? "store" : "scatter";
    need_overload(way + as_lanes);
    line(fmt::format("kw_{}({} + {}, {});", way, buffer.name, at, stored));
    return;
  }
  // Past the caches only whole vectors at multiples of their size can go.
  std::int64_t step = std::gcd(std::int64_t{16}, position.constant);
  for (const auto& [var, coefficient] : position.terms)
    if (var != vector) step = std::gcd(step, coefficient);
  if (any_start) step = 0;
  const bool past_cache = stream && !half && step % lanes == 0;
  if (past_cache) use("stream_stores");
  if (past_cache && step != 16) {
    // Rows meet within a cache line.
    need("stream_line");
    const std::string first = text(position - Affine::variable(vector));
    const std::int64_t count = variables_[static_cast<std::size_t>(vector)].range.high + 1;
    line(fmt::format("kw_stream_line<{0}>({1} + {2}, {3}, {1} + {4}, {1} + {4} + {5});", step, buffer.name, at,
                     as_vector(value).text, first, count));
    return;
  }
  need_overload(past_cache ? "stream" : "store" + as_lanes);
  line(fmt::format("{}({} + {}, {});", past_cache ? "kw_stream" : "kw_store", buffer.name, at, stored));
}

}  // namespace kw
