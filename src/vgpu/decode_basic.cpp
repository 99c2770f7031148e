// Instructions that only compute or move between registers.
#include <fmt/format.h>

#include "vgpu/decode.h"

namespace kw::vgpu {

void Decoder::semantics() {
  const Semantics found = find_semantics(now_->opcode, now_->modifiers);
  if (found.lane == nullptr && found.fragment == nullptr) unsupported();
  std::size_t sources = 0;
  while (sources < 4 && found.src[sources] != Type::none) ++sources;
  const std::size_t least = 1 + sources - (found.optional_last ? 1 : 0);
  expect_operands(least, 1 + sources);
  if (found.fragment != nullptr) {
    Instruction instruction = make(exec_fragment, found.pipe);
    instruction.fragment = found.fragment;
    instruction.flops = found.flops;
    instruction.imm = found.immediate;
    std::vector<OperandRef> refs;
    std::vector<Destination> destinations;
    const auto add = [&](const ParsedOperand& operand, int registers, Type type, bool is_destination) {
      const bool vector = operand.kind == ParsedOperand::Kind::vector;
      const std::size_t size = vector ? operand.elements.size() : 1;
      if (size != static_cast<std::size_t>(registers))
        fail(fmt::format("an operand has {} registers instead of {}", size, registers));
      for (std::size_t i = 0; i < size; ++i) {
        const ParsedOperand& element = vector ? operand.elements[i] : operand;
        if (is_destination) {
          destinations.push_back(destination(element, type));
          refs.push_back(destinations.back().ref);
        } else {
          refs.push_back(source(element, type));
        }
      }
    };
    add(operand(0), found.dst_registers, found.dst, true);
    for (std::size_t i = 0; i < sources && i < 3; ++i) {
      if (i + 1 < operand_count()) add(operand(i + 1), found.src_registers[i], found.src[i], false);
    }
    if (sources > 3) unsupported("it has more than three sources");
    instruction.target = add_list(refs);
    instruction.list_size = static_cast<std::uint32_t>(refs.size());
    instruction.aux = static_cast<std::uint32_t>(found.dst_registers) | static_cast<std::uint32_t>(found.src_registers[0]) << 8 |
                      static_cast<std::uint32_t>(sources > 1 ? found.src_registers[1] : 0) << 16;
    instruction.dst_bytes = static_cast<std::uint8_t>(lane_bytes(found.dst));
    emit(instruction);
    for (const Destination& done : destinations) finish(done);
    return;
  }
  Instruction instruction = make(exec_lane, found.pipe);
  instruction.lane = found.lane;
  instruction.flops = found.flops;
  instruction.imm = found.immediate;
  instruction.dst_bytes = static_cast<std::uint8_t>(lane_bytes(found.dst));
  OperandRef* places[4] = {&instruction.a, &instruction.b, &instruction.c, &instruction.d};
  for (std::size_t i = 0; i < sources && i + 1 < operand_count(); ++i) *places[i] = source(operand(i + 1), found.src[i]);
  const ParsedOperand& target = operand(0);
  Destination second;
  Destination first;
  if (target.kind == ParsedOperand::Kind::pair) {
    first = destination(target.elements[0], found.dst);
    second = destination(target.elements[1], Type::pred);
    instruction.dst2 = second.ref;
  } else {
    first = destination(target, found.dst);
  }
  instruction.dst = first.ref;
  emit(instruction);
  finish(first);
}

void Decoder::mov() {
  expect_operands(2, 2);
  const Type type = last_type();
  const ParsedOperand& to = operand(0);
  const ParsedOperand& from = operand(1);
  if (type == Type::pred) {
    Instruction copy = make(exec_predicate_logic, Pipe::move);
    copy.aux = kPredCopy;
    copy.a = source_predicate(from);
    copy.dst = destination(to, Type::pred).ref;
    emit(copy);
    return;
  }
  if (to.kind == ParsedOperand::Kind::vector && to.elements.size() > 1) {
    Instruction unpack = make(exec_unpack, Pipe::move);
    unpack.a = source(from, type);
    unpack.dst_bytes = static_cast<std::uint8_t>(lane_bytes(type));
    const auto count = static_cast<int>(to.elements.size());
    const int bits = type_bits(type) / count;
    const Type part = bits == 8 ? Type::b8 : bits == 16 ? Type::b16 : bits == 32 ? Type::b32 : Type::b64;
    std::vector<OperandRef> refs;
    std::vector<Destination> destinations;
    for (const ParsedOperand& element : to.elements) {
      if (element.kind == ParsedOperand::Kind::sink) {
        refs.push_back(kNoOperand);
        continue;
      }
      destinations.push_back(destination(element, part));
      refs.push_back(destinations.back().ref);
    }
    unpack.bytes = static_cast<std::uint8_t>(bits / 8);
    unpack.target = add_list(refs);
    unpack.list_size = static_cast<std::uint32_t>(count);
    emit(unpack);
    for (const Destination& done : destinations) finish(done);
    return;
  }
  Instruction copy = make(exec_copy, Pipe::move);
  copy.a = source(from, type);
  const Destination target = destination(to, type);
  copy.dst = target.ref;
  copy.dst_bytes = static_cast<std::uint8_t>(lane_bytes(type));
  emit(copy);
  finish(target);
}

void Decoder::cvta() {
  expect_operands(2, 2);
  const Type type = last_type();
  Instruction instruction = make(exec_cvta, Pipe::integer);
  instruction.space = space_modifier();
  instruction.imm = has("to") ? 1 : 0;
  ParsedOperand from = operand(1);
  instruction.a = source(from, type);
  const Destination target = destination(operand(0), type);
  instruction.dst = target.ref;
  instruction.dst_bytes = static_cast<std::uint8_t>(lane_bytes(type));
  instruction.aux = has("shared::cluster") ? 1 : 0;
  // A parameter of a function that is called, and everything in its frame, is in local memory.
  if (instruction.space == Space::param && !parsed_.entry) instruction.space = Space::local;
  emit(instruction);
  finish(target);
}

void Decoder::isspacep() {
  expect_operands(2, 2);
  Instruction instruction = make(exec_isspacep, Pipe::integer);
  instruction.space = space_modifier();
  instruction.a = source(operand(1), Type::u64);
  instruction.dst = destination(operand(0), Type::pred).ref;
  instruction.aux = has("shared::cluster") ? 1 : 0;
  emit(instruction);
}

void Decoder::logic() {
  if (!has("pred")) return semantics();
  Instruction instruction = make(exec_predicate_logic, Pipe::integer);
  instruction.aux = now_->opcode == "and" ? kPredAnd : now_->opcode == "or" ? kPredOr : now_->opcode == "xor" ? kPredXor : kPredNot;
  const std::size_t sources = instruction.aux == kPredNot ? 1 : 2;
  expect_operands(1 + sources, 1 + sources);
  instruction.a = source_predicate(operand(1));
  if (sources == 2) instruction.b = source_predicate(operand(2));
  instruction.dst = destination(operand(0), Type::pred).ref;
  emit(instruction);
}

// What a machine without caches and power states has nothing to do for; createpolicy still gives a value.
void Decoder::nothing() {
  if (now_->opcode == "createpolicy") {
    Instruction copy = make(exec_copy, Pipe::move);
    copy.a = pool_.add(0, 8);
    const Destination target = destination(operand(0), Type::b64);
    copy.dst = target.ref;
    copy.dst_bytes = 8;
    emit(copy);
    finish(target);
    return;
  }
  if (now_->opcode == "discard") unsupported();
  emit(make(exec_nothing, Pipe::control));
}

void Decoder::trap() { emit(make(exec_trap, Pipe::control)); }

void Decoder::nanosleep() { emit(make(exec_nanosleep, Pipe::control)); }

void Decoder::mapa() {
  expect_operands(3, 3);
  const Type type = last_type();
  Instruction instruction = make(exec_mapa, Pipe::integer);
  instruction.a = source(operand(1), type);
  instruction.b = source(operand(2), Type::u32);
  const Destination target = destination(operand(0), type);
  instruction.dst = target.ref;
  instruction.dst_bytes = static_cast<std::uint8_t>(lane_bytes(type));
  instruction.space = space_modifier();
  emit(instruction);
  finish(target);
}

}  // namespace kw::vgpu
