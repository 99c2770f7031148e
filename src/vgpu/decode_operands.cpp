// Operands of instructions to places in registers, constants and special registers.
#include <fmt/format.h>

#include <cstring>

#include "vgpu/decode.h"

namespace kw::vgpu {
namespace {

bool is_signed(Type type) { return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64; }
bool is_half(Type type) { return type == Type::f16 || type == Type::bf16; }

struct SpecialRow {
  std::string_view name;
  Special row;
};
constexpr SpecialRow kSpecialRows[] = {{"%tid.x", Special::tid_x},
                                       {"%tid.y", Special::tid_y},
                                       {"%tid.z", Special::tid_z},
                                       {"%ntid.x", Special::ntid_x},
                                       {"%ntid.y", Special::ntid_y},
                                       {"%ntid.z", Special::ntid_z},
                                       {"%ctaid.x", Special::ctaid_x},
                                       {"%ctaid.y", Special::ctaid_y},
                                       {"%ctaid.z", Special::ctaid_z},
                                       {"%nctaid.x", Special::nctaid_x},
                                       {"%nctaid.y", Special::nctaid_y},
                                       {"%nctaid.z", Special::nctaid_z},
                                       {"%laneid", Special::laneid},
                                       {"%warpid", Special::warpid},
                                       {"%nwarpid", Special::nwarpid},
                                       {"%smid", Special::smid},
                                       {"%nsmid", Special::nsmid},
                                       {"%gridid", Special::gridid},
                                       {"%lanemask_eq", Special::lanemask_eq},
                                       {"%lanemask_le", Special::lanemask_le},
                                       {"%lanemask_lt", Special::lanemask_lt},
                                       {"%lanemask_ge", Special::lanemask_ge},
                                       {"%lanemask_gt", Special::lanemask_gt},
                                       {"%dynamic_smem_size", Special::dynamic_smem},
                                       {"%total_smem_size", Special::total_smem},
                                       {"%aggr_smem_size", Special::total_smem},
                                       {"%clusterid.x", Special::clusterid_x},
                                       {"%clusterid.y", Special::clusterid_y},
                                       {"%clusterid.z", Special::clusterid_z},
                                       {"%nclusterid.x", Special::nclusterid_x},
                                       {"%nclusterid.y", Special::nclusterid_y},
                                       {"%nclusterid.z", Special::nclusterid_z},
                                       {"%cluster_ctaid.x", Special::cluster_ctaid_x},
                                       {"%cluster_ctaid.y", Special::cluster_ctaid_y},
                                       {"%cluster_ctaid.z", Special::cluster_ctaid_z},
                                       {"%cluster_nctaid.x", Special::cluster_nctaid_x},
                                       {"%cluster_nctaid.y", Special::cluster_nctaid_y},
                                       {"%cluster_nctaid.z", Special::cluster_nctaid_z},
                                       {"%cluster_ctarank", Special::cluster_ctarank},
                                       {"%cluster_nctarank", Special::cluster_nctarank},
                                       {"%envreg1", Special::envreg1},
                                       {"%envreg2", Special::envreg2},
                                       {"%is_explicit_cluster", Special::explicit_cluster},
                                       {"%current_graph_exec", Special::zero}};

struct ClockRow {
  std::string_view name;
  ClockKind kind;
  int bytes;
};
constexpr ClockRow kClockRows[] = {{"%clock", kClock, 4},
                                   {"%clock_hi", kClockHigh, 4},
                                   {"%clock64", kClock64, 8},
                                   {"%globaltimer", kGlobalTimer, 8},
                                   {"%globaltimer_lo", kGlobalTimerLow, 4},
                                   {"%globaltimer_hi", kGlobalTimerHigh, 4}};

}  // namespace

OperandRef Decoder::resize(OperandRef from, int from_bytes, int to_bytes, bool sign) {
  if (from_bytes == to_bytes) return from;
  Instruction instruction = make(exec_resize, Pipe::move);
  instruction.a = from;
  instruction.dst = temporary(to_bytes);
  instruction.bytes = static_cast<std::uint8_t>(from_bytes);
  instruction.dst_bytes = static_cast<std::uint8_t>(to_bytes);
  instruction.imm = sign ? 1 : 0;
  const OperandRef result = instruction.dst;
  emit(instruction).guard = kNoOperand;
  return result;
}

OperandRef Decoder::literal(const ParsedOperand& operand, Type type) {
  std::uint64_t bits = static_cast<std::uint64_t>(operand.integer);
  float single = 0;
  if (operand.kind == ParsedOperand::Kind::single) {
    const auto narrow = static_cast<std::uint32_t>(bits);
    std::memcpy(&single, &narrow, 4);
  }
  if (type == Type::f64) {
    double real = operand.real;
    if (operand.kind == ParsedOperand::Kind::single) real = single;
    if (operand.kind == ParsedOperand::Kind::integer) real = static_cast<double>(operand.integer);
    std::memcpy(&bits, &real, 8);
  } else if (operand.kind == ParsedOperand::Kind::real) {
    if (type_bits(type) == 64) {
      std::memcpy(&bits, &operand.real, 8);
    } else if (is_half(type)) {
      fail("takes 16-bit constants as integers (0x3C00)");
    } else {
      single = static_cast<float>(operand.real);
      std::uint32_t narrow = 0;
      std::memcpy(&narrow, &single, 4);
      bits = narrow;
    }
  } else if (operand.kind == ParsedOperand::Kind::integer && (type == Type::f32 || type == Type::tf32)) {
    single = static_cast<float>(operand.integer);
    std::uint32_t narrow = 0;
    std::memcpy(&narrow, &single, 4);
    bits = narrow;
  }
  if (type == Type::pred) return pool_.add_predicate(bits != 0);
  return pool_.add(bits, lane_bytes(type), operand.integer < 0 ? ~0ull : 0);
}

OperandRef Decoder::special(const ParsedOperand& operand, Type type) {
  if (operand.text == "WARP_SZ") return pool_.add(32, lane_bytes(type));
  for (const SpecialRow& row : kSpecialRows) {
    if (row.name == operand.text) {
      const OperandRef ref = static_cast<OperandRef>(static_cast<std::uint32_t>(row.row) * 128u) | kSpecialBase;
      return resize(ref, 4, lane_bytes(type), false);
    }
  }
  for (const ClockRow& row : kClockRows) {
    if (row.name != operand.text) continue;
    Instruction instruction = make(exec_clock, Pipe::move);
    instruction.aux = row.kind;
    instruction.dst = temporary(row.bytes);
    instruction.dst_bytes = static_cast<std::uint8_t>(row.bytes);
    const OperandRef result = instruction.dst;
    emit(instruction).guard = kNoOperand;
    return resize(result, row.bytes, lane_bytes(type), false);
  }
  if (operand.text.starts_with("%envreg") || operand.text.starts_with("%pm")) return pool_.add(0, lane_bytes(type));
  fail(fmt::format("the special register '{}' is not supported", operand.text));
}

OperandRef Decoder::source_predicate(const ParsedOperand& operand) {
  OperandRef ref = kNoOperand;
  if (operand.kind == ParsedOperand::Kind::reg) {
    if (reg_type(operand.index) != Type::pred) fail(fmt::format("'{}' is no predicate", operand.text));
    ref = reg(operand.index);
  } else if (operand.kind == ParsedOperand::Kind::integer) {
    ref = pool_.add_predicate((operand.integer != 0) != operand.negated);
    return ref;
  } else {
    fail("expected a predicate");
  }
  if (!operand.negated) return ref;
  Instruction instruction = make(exec_predicate_logic, Pipe::move);
  instruction.aux = kPredNot;
  instruction.a = ref;
  instruction.dst = temporary(0);
  const OperandRef result = instruction.dst;
  emit(instruction).guard = kNoOperand;
  return result;
}

OperandRef Decoder::source(const ParsedOperand& operand, Type type) {
  if (type == Type::pred) return source_predicate(operand);
  if (operand.negated || operand.minus) fail("an operand is negated where none can be");
  const int bytes = lane_bytes(type);
  switch (operand.kind) {
    case ParsedOperand::Kind::reg: {
      if (reg_type(operand.index) == Type::pred)
        fail(fmt::format("the predicate '{}' stands where a value is expected", operand.text));
      return resize(reg(operand.index), lane_bytes(reg_type(operand.index)), bytes, is_signed(type));
    }
    case ParsedOperand::Kind::integer:
    case ParsedOperand::Kind::single:
    case ParsedOperand::Kind::real:
      return literal(operand, type);
    case ParsedOperand::Kind::special:
      return special(operand, type);
    case ParsedOperand::Kind::variable:
      return variable_address(operand, bytes);
    case ParsedOperand::Kind::vector:
      if (operand.elements.size() == 1) return source(operand.elements[0], type);
      {
        Instruction pack = make(exec_pack, Pipe::move);
        const auto count = static_cast<int>(operand.elements.size());
        const int bits = type_bits(type) / count;
        const Type part = bits == 8 ? Type::b8 : bits == 16 ? Type::b16 : bits == 32 ? Type::b32 : Type::b64;
        std::vector<OperandRef> refs;
        for (const ParsedOperand& element : operand.elements) refs.push_back(source(element, part));
        pack.dst = temporary(bytes);
        pack.dst_bytes = static_cast<std::uint8_t>(bytes);
        pack.bytes = static_cast<std::uint8_t>(bits / 8);
        pack.target = add_list(refs);
        pack.list_size = static_cast<std::uint32_t>(count);
        const OperandRef result = pack.dst;
        emit(pack).guard = kNoOperand;
        return result;
      }
    default:
      fail("an operand is not of the kind that is expected here");
  }
}

OperandRef Decoder::variable_address(const ParsedOperand& operand, int lane_bytes) {
  Instruction broadcast = make(exec_broadcast, Pipe::move);
  broadcast.dst_bytes = static_cast<std::uint8_t>(lane_bytes);
  broadcast.imm = operand.integer;
  if (operand.index >= 0) {
    const ParsedVariable& variable = parsed_.variables[static_cast<std::size_t>(operand.index)];
    const std::uint32_t offset = function_.variable_offsets[static_cast<std::size_t>(operand.index)];
    const std::size_t own = parsed_.results.size() + parsed_.params.size();
    broadcast.imm += offset;
    if (variable.space == Space::shared && variable.bytes != 0)
      return pool_.add(static_cast<std::uint64_t>(broadcast.imm), lane_bytes);
    if (variable.space == Space::shared) {
      broadcast.imm = operand.integer;
      broadcast.aux = kBroadcastDynamicShared;
    } else if (variable.space == Space::param && parsed_.entry && static_cast<std::size_t>(operand.index) < own) {
      broadcast.aux = kBroadcastParam;
    } else {
      broadcast.aux = kBroadcastLocal;
    }
  } else {
    std::size_t index = 0;
    const ParsedVariable* variable = module_variable(operand.text, &index);
    if (variable == nullptr) {
      const Function* function = find_function(operand.text);
      if (function == nullptr) fail(fmt::format("there is nothing named '{}'", operand.text));
      return pool_.add(function->address, lane_bytes);
    }
    if (variable->space != Space::shared) {
      std::byte* place = module_.variable_places[index];
      if (place == nullptr) fail(fmt::format("'{}' is extern and defined nowhere", operand.text));
      return pool_.add(reinterpret_cast<std::uint64_t>(place) + static_cast<std::uint64_t>(operand.integer), lane_bytes);
    }
    if (variable->bytes != 0) {
      std::uint32_t at = 0;
      for (std::size_t i = 0; i <= index; ++i) {
        const ParsedVariable& earlier = module_.parsed->variables[i];
        if (earlier.space != Space::shared || earlier.bytes == 0) continue;
        at = (at + earlier.align - 1) / earlier.align * earlier.align;
        if (i == index) break;
        at += static_cast<std::uint32_t>(earlier.bytes);
      }
      return pool_.add(at + static_cast<std::uint64_t>(operand.integer), lane_bytes);
    }
    function_.uses_dynamic_shared = true;
    broadcast.aux = kBroadcastDynamicShared;
  }
  broadcast.dst = temporary(lane_bytes);
  const OperandRef result = broadcast.dst;
  emit(broadcast).guard = kNoOperand;
  return result;
}

const ParsedVariable* Decoder::module_variable(std::string_view name, std::size_t* index) const {
  const auto found = module_.parsed->variable_index.find(std::string(name));
  if (found == module_.parsed->variable_index.end()) return nullptr;
  *index = static_cast<std::size_t>(found->second);
  return &module_.parsed->variables[*index];
}

const Function* Decoder::find_function(std::string_view name) const {
  std::string wanted(name);
  if (const auto alias = module_.parsed->aliases.find(wanted); alias != module_.parsed->aliases.end()) wanted = alias->second;
  const auto found = module_.function_index.find(wanted);
  return found == module_.function_index.end() ? nullptr : &module_.functions[found->second];
}

Decoder::Destination Decoder::destination(const ParsedOperand& operand, Type type) {
  Destination destination;
  const int bytes = lane_bytes(type);
  if (operand.kind == ParsedOperand::Kind::sink) {
    destination.ref = temporary(bytes);
    return destination;
  }
  if (operand.kind == ParsedOperand::Kind::vector && operand.elements.size() == 1)
    return this->destination(operand.elements[0], type);
  if (operand.kind != ParsedOperand::Kind::reg) fail("the destination has to be a register");
  const int real = lane_bytes(reg_type(operand.index));
  if ((real == 0) != (bytes == 0)) fail(fmt::format("'{}' is {} predicate", operand.text, real == 0 ? "a" : "no"));
  destination.ref = reg(operand.index);
  if (real != bytes) {
    destination.real = destination.ref;
    destination.ref = temporary(bytes);
    destination.from_bytes = bytes;
    destination.to_bytes = real;
    destination.sign = is_signed(type);
  }
  return destination;
}

void Decoder::finish(const Destination& destination) {
  if (destination.real == kNoOperand) return;
  Instruction instruction = make(exec_resize, Pipe::move);
  instruction.a = destination.ref;
  instruction.dst = destination.real;
  instruction.bytes = static_cast<std::uint8_t>(destination.from_bytes);
  instruction.dst_bytes = static_cast<std::uint8_t>(destination.to_bytes);
  instruction.imm = destination.sign ? 1 : 0;
  emit(instruction);
}

// Sets a (kNoOperand for an absolute address), imm and kWideAddress. For a variable in local memory without register, imm counts
// from the frame.
void Decoder::address(const ParsedOperand& operand, Instruction& instruction) {
  if (operand.kind != ParsedOperand::Kind::address || operand.elements.empty()) fail("expected an address in brackets");
  const ParsedOperand& base = operand.elements[0];
  instruction.imm = operand.integer;
  if (base.kind == ParsedOperand::Kind::reg) {
    const int bytes = lane_bytes(reg_type(base.index));
    if (bytes != 4 && bytes != 8) fail(fmt::format("'{}' holds no address", base.text));
    instruction.a = reg(base.index);
    if (bytes == 8) instruction.flags |= kWideAddress;
    return;
  }
  if (base.kind == ParsedOperand::Kind::integer) {
    instruction.a = pool_.add(static_cast<std::uint64_t>(base.integer), 8);
    instruction.flags |= kWideAddress;
    return;
  }
  if (base.kind != ParsedOperand::Kind::variable) fail("an address is neither register, variable nor number");
  ParsedOperand plain = base;
  plain.integer = 0;
  instruction.imm = operand.integer;
  instruction.a = variable_address(plain, 8);
  instruction.flags |= kWideAddress;
}

Space Decoder::space_modifier() const {
  for (std::string_view modifier : now_->modifiers) {
    if (modifier == "global") return Space::global;
    if (modifier.starts_with("shared")) return Space::shared;
    if (modifier == "local") return Space::local;
    if (modifier == "const") return Space::constant;
    if (modifier.starts_with("param")) return Space::param;
  }
  return Space::generic;
}

}  // namespace kw::vgpu
