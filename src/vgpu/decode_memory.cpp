// Instructions that touch memory.
#include <fmt/format.h>

#include "vgpu/decode.h"

namespace kw::vgpu {

std::uint8_t Decoder::strength() const {
  std::uint8_t flags = 0;
  for (std::string_view modifier : now_->modifiers) {
    if (modifier == "volatile" || modifier == "relaxed" || modifier == "mmio") flags |= kStrong;
    if (modifier == "acquire") flags |= kStrong | kAcquire;
    if (modifier == "release") flags |= kStrong | kRelease;
    if (modifier == "acq_rel" || modifier == "sc") flags |= kStrong | kAcquire | kRelease;
  }
  return flags;
}

// Type, bytes and number of elements.
void Decoder::element_of(Instruction& instruction, Type& type) const {
  type = last_type();
  if (type == Type::pred) fail("predicates are not in memory");
  instruction.type = type;
  instruction.bytes = static_cast<std::uint8_t>(type_bits(type) / 8);
  instruction.count = has("v2") ? 2 : has("v4") ? 4 : has("v8") ? 8 : 1;
}

void Decoder::ld() {
  if (operand_count() < 2) fail("has too few operands");
  Instruction instruction = make(exec_ld, Pipe::memory);
  Type type = Type::none;
  element_of(instruction, type);
  instruction.space = space_modifier();
  instruction.flags = strength();
  address(operand(1), instruction);
  if (instruction.space == Space::param) {
    // Of a kernel it is the launch's; of a called function, and for the results of calls, it is in the frame.
    const ParsedOperand& base = operand(1).elements[0];
    const bool own = base.kind == ParsedOperand::Kind::variable && base.index >= 0 &&
                     static_cast<std::size_t>(base.index) < parsed_.results.size() + parsed_.params.size();
    if (parsed_.entry && own) {
      // The address instruction that was emitted isn't needed: the place is known.
      module_.code.pop_back();
      instruction.exec = exec_ld_param;
      instruction.imm = operand(1).integer + function_.variable_offsets[static_cast<std::size_t>(base.index)];
      if (instruction.imm < 0 ||
          instruction.imm + instruction.bytes * instruction.count > static_cast<std::int64_t>(function_.param_bytes)) {
        fail("reads beyond the parameters");
      }
      instruction.a = kNoOperand;
    } else if (parsed_.entry && base.kind == ParsedOperand::Kind::reg) {
      instruction.space = Space::global;  // an address of the parameters is one of the host
    } else {
      instruction.space = Space::local;
    }
  }
  const ParsedOperand& to = operand(0);
  const bool vector = to.kind == ParsedOperand::Kind::vector;
  if ((vector ? to.elements.size() : 1) != instruction.count) {
    fail(fmt::format("moves {} elements to {} registers", instruction.count, vector ? to.elements.size() : 1));
  }
  std::vector<OperandRef> refs;
  int width = 0;
  for (int i = 0; i < instruction.count; ++i) {
    const ParsedOperand& element = vector ? to.elements[static_cast<std::size_t>(i)] : to;
    if (element.kind == ParsedOperand::Kind::sink) {
      refs.push_back(temporary(std::max(lane_bytes(type), width)));
      continue;
    }
    if (element.kind != ParsedOperand::Kind::reg || reg_type(element.index) == Type::pred)
      fail("the destination has to be a register");
    const int bytes = lane_bytes(reg_type(element.index));
    if (width != 0 && bytes != width) fail("the destinations have different widths");
    width = bytes;
    refs.push_back(reg(element.index));
  }
  if (width == 0) width = lane_bytes(type);
  instruction.dst_bytes = static_cast<std::uint8_t>(width);
  instruction.load = find_load(type, width);
  if (instruction.load == nullptr) fail(fmt::format("cannot load into registers of {} bits", width * 8));
  instruction.dst = refs[0];
  instruction.target = add_list(refs);
  instruction.list_size = instruction.count;
  emit(instruction);
}

void Decoder::st() {
  if (operand_count() < 2) fail("has too few operands");
  Instruction instruction = make(exec_st, Pipe::memory);
  if (has("async") || has("bulk")) unsupported();
  Type type = Type::none;
  element_of(instruction, type);
  instruction.space = space_modifier();
  instruction.flags = static_cast<std::uint8_t>(strength() | kStore);
  address(operand(0), instruction);
  if (instruction.space == Space::param) instruction.space = Space::local;
  const ParsedOperand& from = operand(1);
  const bool vector = from.kind == ParsedOperand::Kind::vector && instruction.count > 1;
  if (vector && from.elements.size() != instruction.count) {
    fail(fmt::format("moves {} elements from {} registers", instruction.count, from.elements.size()));
  }
  if (!vector && instruction.count != 1) fail("moves a vector from one register");
  std::vector<OperandRef> refs;
  int width = 0;
  for (int i = 0; i < instruction.count; ++i) {
    const ParsedOperand& element = vector ? from.elements[static_cast<std::size_t>(i)] : from;
    const bool is_register = element.kind == ParsedOperand::Kind::reg && reg_type(element.index) != Type::pred;
    const int bytes = is_register ? lane_bytes(reg_type(element.index)) : lane_bytes(type);
    if (bytes != lane_bytes(type) && bytes > lane_bytes(type) && instruction.count == 1) {
      width = bytes;  // the lower part of a wider register
      refs.push_back(reg(element.index));
    } else {
      width = lane_bytes(type);
      refs.push_back(source(element, type));
    }
  }
  instruction.store = find_store(instruction.bytes, width);
  if (instruction.store == nullptr) fail(fmt::format("cannot store from registers of {} bits", width * 8));
  instruction.dst_bytes = static_cast<std::uint8_t>(width);
  instruction.b = refs[0];
  instruction.target = add_list(refs);
  instruction.list_size = instruction.count;
  emit(instruction);
}

// atom d, [a], b{, c}; red [a], b. imm: offset; b: value; c: new value of cas.
void Decoder::atom() {
  const bool returns = now_->opcode == "atom";
  const std::size_t first = returns ? 1 : 0;
  if (has("async")) unsupported();
  Instruction instruction = make(exec_atom, Pipe::memory);
  Type type = Type::none;
  element_of(instruction, type);
  instruction.space = space_modifier();
  instruction.flags = static_cast<std::uint8_t>(strength() | kStrong | kAtomic | kStore);
  std::string_view op;
  for (std::string_view modifier : now_->modifiers) {
    for (std::string_view known : {"add", "min", "max", "and", "or", "xor", "inc", "dec", "exch", "cas"}) {
      if (modifier == known) op = known;
    }
  }
  if (op.empty()) unsupported();
  expect_operands(first + 2, first + 4);
  address(operand(first), instruction);
  std::vector<OperandRef> values, olds;
  std::vector<Destination> destinations;
  for (int i = 0; i < instruction.count; ++i) {
    const auto pick = [&](const ParsedOperand& whole) -> const ParsedOperand& {
      if (instruction.count == 1 || whole.kind == ParsedOperand::Kind::sink) return whole;
      if (whole.kind != ParsedOperand::Kind::vector || whole.elements.size() != instruction.count)
        fail("an operand is no vector of the right size");
      return whole.elements[static_cast<std::size_t>(i)];
    };
    values.push_back(source(pick(operand(first + 1)), type));
    if (returns) {
      destinations.push_back(destination(pick(operand(0)), type));
      olds.push_back(destinations.back().ref);
    }
  }
  instruction.dst_bytes = static_cast<std::uint8_t>(lane_bytes(type));
  instruction.b = values[0];
  instruction.dst = returns ? olds[0] : kNoOperand;
  std::vector<OperandRef> refs = values;
  refs.insert(refs.end(), olds.begin(), olds.end());
  instruction.target = add_list(refs);
  instruction.list_size = static_cast<std::uint32_t>(refs.size());
  if (type == Type::b128) {
    if (op != "cas" && op != "exch") unsupported();
    instruction.exec = exec_atom128;
    if (op == "cas") instruction.c = source(operand(first + 2), type);
  } else if (op == "cas") {
    instruction.exec = exec_cas;
    instruction.c = source(operand(first + 2), type);
  } else {
    instruction.atomic = find_atomic(op, type);
    if (instruction.atomic == nullptr) unsupported();
    instruction.aux = op == "add" && type == Type::f32                                                      ? 1
                      : op == "add" && type_bits(type) == 32 && type != Type::f16x2 && type != Type::bf16x2 ? 2
                                                                                                            : 0;
    if (type == Type::f32 || type == Type::f64) instruction.flops = 1;
  }
  emit(instruction);
  for (const Destination& done : destinations) finish(done);
}

void Decoder::fence() {
  Instruction instruction = make(exec_fence, Pipe::memory);
  instruction.flags = kStrong | kAcquire | kRelease;
  instruction.aux = has("cta") ? 1 : 0;
  if (has("proxy") || has("mbarrier_init")) instruction.aux = 1;
  emit(instruction);
}

// cp.async: a is the destination's address, imm its offset; b, aux the source's; c: number of source bytes; d: predicate that
// ignores the source.
void Decoder::cp() {
  if (has("commit_group")) {
    emit(make(exec_cp_commit, Pipe::control)).imm = has("bulk") ? 1 : 0;
    return;
  }
  if (has("wait_group") || has("wait_all")) {
    Instruction wait = make(exec_cp_wait, Pipe::control);
    wait.imm = has("wait_all") ? -1 : operand(0).integer;
    if (has("bulk")) wait.imm = 0;  // copies in bulk are done at once
    emit(wait);
    return;
  }
  if (has("mbarrier")) {
    Instruction arrive = make(exec_cp_mbarrier, Pipe::memory);
    arrive.space = space_modifier();
    arrive.imm = 0;
    address(operand(0), arrive);
    arrive.aux = has("noinc") ? 1 : 0;
    emit(arrive);
    return;
  }
  if (has("bulk")) {
    if (has("prefetch")) return nothing();
    if (has("tensor")) return cp_tensor();
    if (has("multicast::cluster")) unsupported();
    // cp.async.bulk.dst.src.completion [dst], [src], size, [mbar]
    expect_operands(3, 5);
    if (now_->modifiers.size() < 3 || now_->modifiers[1] != "bulk") unsupported();
    if (now_->opcode == "cp" && has("reduce")) unsupported();
    Instruction copy = make(exec_cp_bulk, Pipe::memory);
    const bool to_shared = now_->modifiers[2].starts_with("shared");
    const bool from_shared = now_->modifiers.size() > 3 && now_->modifiers[3].starts_with("shared");
    Instruction from = copy;
    address(operand(0), copy);
    address(operand(1), from);
    copy.b = (from.flags & kWideAddress) != 0 ? from.a : resize(from.a, 4, 8, false);
    copy.a = (copy.flags & kWideAddress) != 0 ? copy.a : resize(copy.a, 4, 8, false);
    copy.c = source(operand(2), Type::u32);
    copy.aux = (to_shared ? 1u : 0u) | (from_shared ? 2u : 0u);
    copy.d = kNoOperand;
    copy.list_size = static_cast<std::uint32_t>(from.imm);
    if (operand_count() > 3 && operand(3).kind == ParsedOperand::Kind::address) {
      Instruction barrier = make(exec_nothing, Pipe::control);
      address(operand(3), barrier);
      copy.d = (barrier.flags & kWideAddress) != 0 ? barrier.a : resize(barrier.a, 4, 8, false);
      copy.meet = kNowhere;
      copy.target = static_cast<std::uint32_t>(barrier.imm);
    }
    copy.flags |= kWideAddress;
    emit(copy);
    return;
  }
  if (!has("shared") && !has("shared::cta")) unsupported();
  expect_operands(3, 5);
  Instruction copy = make(exec_cp_async, Pipe::memory);
  Instruction from = copy;
  address(operand(0), copy);
  address(operand(1), from);
  copy.b = (from.flags & kWideAddress) != 0 ? from.a : resize(from.a, 4, 8, false);
  copy.list_size = static_cast<std::uint32_t>(from.imm);
  if (operand(2).kind != ParsedOperand::Kind::integer) fail("the size has to be a constant");
  const std::int64_t size = operand(2).integer;
  if (size != 4 && size != 8 && size != 16) fail(fmt::format("copies {} bytes; it can copy 4, 8 or 16", size));
  copy.bytes = static_cast<std::uint8_t>(size);
  copy.space = Space::shared;
  copy.flags |= kStore;
  for (std::size_t i = 3; i < operand_count(); ++i) {
    const ParsedOperand& extra = operand(i);
    if (extra.kind == ParsedOperand::Kind::reg && reg_type(extra.index) == Type::pred) {
      copy.d = source_predicate(extra);
    } else if (extra.kind == ParsedOperand::Kind::reg && lane_bytes(reg_type(extra.index)) == 8) {
      // a cache policy
    } else {
      copy.c = source(extra, Type::u32);
    }
  }
  emit(copy);
}

void Decoder::mbarrier() {
  Instruction instruction = make(exec_mbarrier, Pipe::memory);
  instruction.space = has("shared") || has("shared::cta") || has("shared::cluster") ? Space::shared : Space::generic;
  instruction.bytes = 8;
  instruction.flags = kStrong | kAtomic;
  const bool tests = has("test_wait") || has("try_wait");
  if (has("pending_count")) {
    instruction.aux = kMbarPending;
    const Destination target = destination(operand(0), Type::b32);
    instruction.dst = target.ref;
    instruction.b = source(operand(1), Type::b64);
    emit(instruction);
    finish(target);
    return;
  }
  // init [a], n; inval [a]; arrive {d|_}, [a]{, n}; expect_tx [a], n; complete_tx [a], n; test_wait p, [a], state|parity
  std::size_t at = operand(0).kind == ParsedOperand::Kind::address ? 0 : 1;
  address(operand(at), instruction);
  if (has("init")) {
    instruction.aux = kMbarInit;
  } else if (has("inval")) {
    instruction.aux = kMbarInval;
  } else if (has("arrive") && has("expect_tx")) {
    instruction.aux = kMbarArriveExpectTx;
  } else if (has("arrive")) {
    instruction.aux = kMbarArrive;
  } else if (has("arrive_drop")) {
    instruction.aux = kMbarArriveDrop;
  } else if (has("expect_tx")) {
    instruction.aux = kMbarExpectTx;
  } else if (has("complete_tx")) {
    instruction.aux = kMbarCompleteTx;
  } else if (tests) {
    instruction.aux = has("parity") ? kMbarTestParity : kMbarTest;
  } else {
    unsupported();
  }
  if (at + 1 < operand_count()) instruction.b = source(operand(at + 1), instruction.aux == kMbarTest ? Type::b64 : Type::u32);
  Destination target;
  if (tests) {
    target = destination(operand(0), Type::pred);
    instruction.dst = target.ref;
  } else if (at == 1) {
    target = destination(operand(0), Type::b64);
    instruction.dst = target.ref;
  }
  emit(instruction);
  finish(target);
}

// ldmatrix.sync.aligned.m8n8.x4{.trans}.shared.b16 {d...}, [a]
void Decoder::ldmatrix() {
  expect_operands(2, 2);
  if (!has("m8n8") || !has("b16")) unsupported();
  Instruction instruction = make(exec_ldmatrix, Pipe::memory);
  instruction.space = space_modifier();
  instruction.count = has("x4") ? 4 : has("x2") ? 2 : 1;
  instruction.bytes = 16;
  instruction.aux = has("trans") ? 1 : 0;
  address(operand(1), instruction);
  const ParsedOperand& to = operand(0);
  const bool vector = to.kind == ParsedOperand::Kind::vector;
  if ((vector ? to.elements.size() : 1) != instruction.count) fail("has the wrong number of registers");
  std::vector<OperandRef> refs;
  for (int i = 0; i < instruction.count; ++i)
    refs.push_back(destination(vector ? to.elements[static_cast<std::size_t>(i)] : to, Type::b32).ref);
  instruction.target = add_list(refs);
  instruction.list_size = instruction.count;
  emit(instruction);
}

void Decoder::stmatrix() {
  expect_operands(2, 2);
  if (!has("m8n8") || !has("b16")) unsupported();
  Instruction instruction = make(exec_stmatrix, Pipe::memory);
  instruction.space = space_modifier();
  instruction.count = has("x4") ? 4 : has("x2") ? 2 : 1;
  instruction.bytes = 16;
  instruction.flags = kStore;
  instruction.aux = has("trans") ? 1 : 0;
  address(operand(0), instruction);
  const ParsedOperand& from = operand(1);
  const bool vector = from.kind == ParsedOperand::Kind::vector;
  if ((vector ? from.elements.size() : 1) != instruction.count) fail("has the wrong number of registers");
  std::vector<OperandRef> refs;
  for (int i = 0; i < instruction.count; ++i)
    refs.push_back(source(vector ? from.elements[static_cast<std::size_t>(i)] : from, Type::b32));
  instruction.target = add_list(refs);
  instruction.list_size = instruction.count;
  emit(instruction);
}

// wmma.load.a... {r}, [p]{, stride}; wmma.store.d... [p], {r}{, stride}
void Decoder::wmma() {
  const bool load = has("load"), store = has("store");
  if (!load && !store) return semantics();
  expect_operands(2, 3);
  const FragmentMap map = find_fragment_map(now_->opcode, now_->modifiers);
  if (map.place == nullptr) unsupported();
  Instruction instruction = make(load ? exec_wmma_load : exec_wmma_store, Pipe::memory);
  instruction.space = space_modifier();
  if (store) instruction.flags = kStore;
  address(operand(load ? 1 : 0), instruction);
  const ParsedOperand& registers = operand(load ? 0 : 1);
  if (registers.kind != ParsedOperand::Kind::vector || registers.elements.size() != static_cast<std::size_t>(map.registers)) {
    fail(fmt::format("needs {} registers", map.registers));
  }
  const int bits = type_bits(map.element) * map.elements_per_register;
  const Type type = bits == 64 ? Type::b64 : Type::b32;
  std::vector<OperandRef> refs;
  for (const ParsedOperand& element : registers.elements)
    refs.push_back(load ? destination(element, type).ref : source(element, type));
  instruction.target = add_list(refs);
  instruction.list_size = static_cast<std::uint32_t>(refs.size());
  instruction.dst_bytes = static_cast<std::uint8_t>(lane_bytes(type));
  instruction.bytes = static_cast<std::uint8_t>(type_bits(map.element) / 8);
  instruction.aux = static_cast<std::uint32_t>(module_.fragment_maps.size());
  module_.fragment_maps.push_back(map);
  if (operand_count() > 2) instruction.b = source(operand(2), Type::u32);
  emit(instruction);
}

}  // namespace kw::vgpu
