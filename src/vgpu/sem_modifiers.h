// The modifiers of an instruction, taken one by one: what a table doesn't take is unknown, and the instruction isn't supported.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "vgpu/sem_hot.h"

namespace kw::vgpu {

class Modifiers {
 public:
  explicit Modifiers(std::span<const std::string_view> names) : left_(names.begin(), names.end()) {}

  bool take(std::string_view name) {
    const auto at = std::find(left_.begin(), left_.end(), name);
    if (at == left_.end()) return false;
    left_.erase(at);
    return true;
  }
  // The first that is a type; none where there is none.
  Type take_type() {
    for (auto at = left_.begin(); at != left_.end(); ++at) {
      const Type type = type_named(*at);
      if (type == Type::none) continue;
      left_.erase(at);
      return type;
    }
    return Type::none;
  }
  template <typename Value, std::size_t Count>
  std::optional<Value> take_one_of(const std::pair<std::string_view, Value> (&names)[Count]) {
    for (const auto& [name, value] : names)
      if (take(name)) return value;
    return std::nullopt;
  }
  Round take_round() {
    static constexpr std::pair<std::string_view, Round> kRounds[] = {{"rn", Round::rn},   {"rz", Round::rz},   {"rm", Round::rm},
                                                                     {"rp", Round::rp},   {"rna", Round::rna}, {"rni", Round::rni},
                                                                     {"rzi", Round::rzi}, {"rmi", Round::rmi}, {"rpi", Round::rpi}};
    return take_one_of(kRounds).value_or(Round::none);
  }
  FloatMode take_float_mode() {
    FloatMode mode;
    mode.round = take_round();
    mode.ftz = take("ftz");
    mode.sat = take("sat");
    mode.relu = take("relu");
    mode.nan = take("NaN");
    if (take("xorsign")) mode.xorsign = take("abs");
    return mode;
  }
  // The first of `row` and `col`; true for a column. Nothing where there is none.
  std::optional<bool> take_layout() {
    const auto at = std::find_if(left_.begin(), left_.end(), [](std::string_view name) { return name == "row" || name == "col"; });
    if (at == left_.end()) return std::nullopt;
    const bool column = *at == "col";
    left_.erase(at);
    return column;
  }
  // m16n8k16
  bool take_shape(int* m, int* n, int* k);

  [[nodiscard]] bool empty() const { return left_.empty(); }

 private:
  std::vector<std::string_view> left_;
};

// The tables, one a group of instructions; an answer without functions says that the name isn't theirs or isn't supported.
Semantics find_integer(std::string_view opcode, Modifiers modifiers);  // sem_integer.cpp
Semantics find_bits(std::string_view opcode, Modifiers modifiers);     // sem_integer.cpp
Semantics find_float(std::string_view opcode, Modifiers modifiers);    // sem_float.cpp
Semantics find_compare(std::string_view opcode, Modifiers modifiers);  // sem_compare.cpp
Semantics find_convert(std::string_view opcode, Modifiers modifiers);  // sem_compare.cpp
Semantics find_matrix(std::string_view opcode, Modifiers modifiers);   // sem_wmma.cpp

// A row for an instruction with a destination and up to four sources.
inline Semantics lane_semantics(LaneFn lane, Type dst, std::initializer_list<Type> sources, Pipe pipe, std::uint32_t flops = 0) {
  Semantics found;
  if (lane == nullptr) return found;
  found.lane = lane;
  found.dst = dst;
  std::copy(sources.begin(), sources.end(), std::begin(found.src));
  found.pipe = pipe;
  found.flops = flops;
  return found;
}
inline bool is_float_type(Type type) {
  return type == Type::f16 || type == Type::bf16 || type == Type::f16x2 || type == Type::bf16x2 || type == Type::f32 ||
         type == Type::f64 || type == Type::f32x2;
}

}  // namespace kw::vgpu
