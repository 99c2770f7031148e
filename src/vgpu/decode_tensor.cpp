// cp.async.bulk.tensor in tiles; im2col, gathers and reductions are not there.
#include "vgpu/decode.h"
#include "vgpu/tensor_map.h"

namespace kw::vgpu {

// Load: [shared], [map, {coordinates}], [mbarrier]{, mask of blocks}{, cache policy}. Store: [map, {coordinates}], [shared]{, cache
// policy}.
void Decoder::cp_tensor() {
  for (std::string_view modifier : now_->modifiers)
    if (modifier == "reduce" || modifier.starts_with("im2col") || modifier.starts_with("tile::"))
      unsupported("copies of tiles are");
  expect_operands(2, 5);
  const bool loads = operand(0).elements.size() == 1;
  const ParsedOperand& tensor = operand(loads ? 1 : 0);
  if (tensor.kind != ParsedOperand::Kind::address || tensor.elements.size() < 2) fail("expected [tensor map, {coordinates}]");
  Instruction copy = make(exec_cp_tensor, Pipe::memory);
  const auto wide_address = [&](const ParsedOperand& of, std::int64_t& offset) {
    Instruction place = make(exec_nothing, Pipe::control);
    address(of, place);
    offset = place.imm;
    return (place.flags & kWideAddress) != 0 ? place.a : resize(place.a, 4, 8, false);
  };
  std::int64_t map_offset = 0, barrier_offset = 0;
  copy.a = wide_address(operand(loads ? 0 : 1), copy.imm);
  copy.b = wide_address(tensor, map_offset);
  std::vector<OperandRef> refs;
  for (std::size_t i = 1; i < tensor.elements.size(); ++i) {
    const ParsedOperand& given = tensor.elements[i];
    if (given.kind != ParsedOperand::Kind::vector) {
      refs.push_back(source(given, Type::s32));
      continue;
    }
    for (const ParsedOperand& each : given.elements) refs.push_back(source(each, Type::s32));
  }
  if (refs.empty() || refs.size() > kTensorRank) fail("a tensor has 1 to 5 coordinates");
  copy.count = static_cast<std::uint8_t>(refs.size());
  if (loads) {
    expect_operands(3, 5);
    copy.d = wide_address(operand(2), barrier_offset);
    if (has("multicast::cluster")) copy.c = source(operand(3), Type::u16);
  }
  refs.push_back(static_cast<std::uint32_t>(map_offset));
  refs.push_back(static_cast<std::uint32_t>(barrier_offset));
  copy.aux = loads ? 1 : 0;
  copy.flags |= kWideAddress;
  copy.target = add_list(refs);
  copy.list_size = static_cast<std::uint32_t>(refs.size());
  emit(copy);
}

}  // namespace kw::vgpu
