#include "playbook/cute_fragments.h"

#include <algorithm>

#include <fmt/format.h>

namespace kw {
namespace {

std::string tiled_copy(const CuteStretch& stretch, DType dtype) {
  return fmt::format(
      "make_tiled_copy(Copy_Atom<UniversalCopy<uint_bit_t<{}>>, {}>{{}}, Layout<Shape<Int<{}>>>{{}}, Layout<Shape<Int<{}>>>{{}})",
      stretch.lanes * static_cast<std::int64_t>(size_of(dtype)) * 8, c_type(dtype), stretch.threads, stretch.lanes);
}

void write_copies(Emitter& e, const CuteStretch& stretch, const std::string& name, const std::string& from, const std::string& to) {
  e.open(fmt::format("CUTE_UNROLL\nfor (int v = 0; v < size<1>({}); ++v) {{", name));
  e.line(fmt::format("if ({0} % ({1}) == 0 || get<0>({2}(0, v)) < {0}) cute::copy({3}_copy, {4}(_, v), {5}(_, v));", stretch.count,
                     stretch.tile, stretch.at, name, from, to));
  e.close();
}

}  // namespace

void write_positions(Emitter& e, const CuteStretch& stretch, const std::string& positions) {
  e.line(fmt::format("Tensor {} = {}.get_slice({}).partition_S({});", stretch.at, tiled_copy(stretch, DType::f32), stretch.thread,
                     positions));
}

void write_fragment_in(GpuWriter& writer, Emitter& e, const CuteStretch& stretch, const std::string& name,
                       const std::string& memory, DType dtype) {
  e.line(fmt::format("const auto {}_copy = {};", name, tiled_copy(stretch, dtype)));
  e.line(fmt::format("Tensor {0}_memory = {0}_copy.get_slice({1}).partition_S({2});", name, stretch.thread,
                     fmt::format(fmt::runtime(stretch.whole), writer.iterator(memory))));
  e.line(fmt::format("Tensor {0} = make_fragment_like({0}_memory);", name));
  write_copies(e, stretch, name, name + "_memory", name);
}

void declare_fragment_out(GpuWriter& writer, Emitter& e, const CuteStretch& stretch, const std::string& name,
                          const std::string& memory, DType dtype) {
  e.line(fmt::format("const auto {}_copy = {};", name, tiled_copy(stretch, dtype)));
  e.line(fmt::format("Tensor {0}_memory = {0}_copy.get_slice({1}).partition_D({2});", name, stretch.thread,
                     fmt::format(fmt::runtime(stretch.whole), writer.iterator(memory))));
  e.line(fmt::format("Tensor {0} = make_fragment_like({0}_memory);", name));
}

void write_fragment_out(Emitter& e, const CuteStretch& stretch, const std::string& name) {
  write_copies(e, stretch, name, name, name + "_memory");
}

Expr fragment_element(const std::string& name, const std::string& item, DType dtype) {
  const std::string element = fmt::format("{}({})", name, item);
  if (is_16_bit(dtype)) return {fmt::format("kw_{}_wide({})", dtype == DType::f16 ? "f16" : "bf16", element), dtype, false};
  return {fmt::format("{}({})", value_type(dtype), element), dtype, false};
}

std::string as_element(const Expr& value, DType dtype) {
  if (dtype == DType::f16) return fmt::format("kw_f16_of({})", Emitter::before_rounding(value));
  if (dtype == DType::bf16) return fmt::format("kw_bf16_of({})", Emitter::before_rounding(value));
  return fmt::format("{}({})", c_type(dtype), value.text);
}

std::int64_t lanes_for(const GpuWriter& writer, const std::vector<DType>& types, std::int64_t count) {
  if (!writer.wants("vector_load")) return 1;
  std::int64_t widest = 1;
  for (const DType type : types) widest = std::max(widest, static_cast<std::int64_t>(size_of(type)));
  // A boolean has no vectors of sixteen: four of anything, two of what is wide.
  const std::int64_t lanes = std::min<std::int64_t>(16 / widest, widest == 2 ? 8 : 4);
  return count % lanes == 0 ? lanes : 1;
}

}  // namespace kw
