// wgmma.mma_async with float accumulators; its fences and groups have nothing to do, because products are done when they are
// issued.
#include <fmt/format.h>

#include <charconv>

#include "vgpu/decode.h"

namespace kw::vgpu {

// wgmma.mma_async.sync.aligned.m64nNkK.f32.type.type {d...}, a-desc | {a...}, b-desc, scale-d{, imm-scale-a, imm-scale-b{,
// imm-trans-a}, imm-trans-b}
void Decoder::wgmma() {
  if (!has("mma_async")) {
    emit(make(exec_nothing, Pipe::control));
    return;
  }
  Instruction instruction = make(exec_wgmma, Pipe::tensor);
  int n = 0;
  for (std::string_view modifier : now_->modifiers) {
    if (!modifier.starts_with("m64n")) continue;
    std::from_chars(modifier.data() + 4, modifier.data() + modifier.size(), n);
  }
  instruction.type = last_type();
  const bool known = instruction.type == Type::f16 || instruction.type == Type::bf16 || instruction.type == Type::tf32;
  if (!known || !has("f32") || has("sp") || n < 8 || n > 256 || n % 8 != 0)
    unsupported("float accumulators with f16, bf16 and tf32 are");
  expect_operands(4, 8);
  instruction.bytes = instruction.type == Type::tf32 ? 4 : 2;
  instruction.count = static_cast<std::uint8_t>(n / 8);
  const int depth = 32 / instruction.bytes;
  instruction.flops = static_cast<std::uint32_t>(2 * 16 * n * depth);  // of one warp of the four
  const ParsedOperand& d = operand(0);
  if (d.kind != ParsedOperand::Kind::vector || d.elements.size() != static_cast<std::size_t>(n / 2))
    fail(fmt::format("d needs {} registers", n / 2));
  std::vector<OperandRef> refs;
  for (const ParsedOperand& element : d.elements) refs.push_back(destination(element, Type::f32).ref);
  const bool in_registers = operand(1).kind == ParsedOperand::Kind::vector;
  if (in_registers) {
    if (operand(1).elements.size() != 4) fail("a needs 4 registers");
    for (const ParsedOperand& element : operand(1).elements) refs.push_back(source(element, Type::b32));
  } else {
    instruction.a = source(operand(1), Type::b64);
  }
  instruction.b = source(operand(2), Type::b64);
  instruction.c = source_predicate(operand(3));
  const auto flag = [&](std::size_t index) { return index < operand_count() ? operand(index).integer : 0; };
  if (flag(4) == -1) instruction.imm |= 1;
  if (flag(5) == -1) instruction.imm |= 2;
  if (!in_registers && flag(6) == 1) instruction.imm |= 4;
  if (flag(in_registers ? 6 : 7) == 1) instruction.imm |= 8;
  instruction.target = add_list(refs);
  instruction.list_size = static_cast<std::uint32_t>(refs.size());
  emit(instruction);
}

}  // namespace kw::vgpu
