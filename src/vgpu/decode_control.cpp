// Branches, calls, barriers, and what lanes of a warp do with each other.
#include <fmt/format.h>

#include "vgpu/decode.h"

namespace kw::vgpu {

void Decoder::bra() {
  expect_operands(1, 1);
  const ParsedOperand& target = operand(0);
  if (target.kind != ParsedOperand::Kind::label || target.integer < 0) fail(fmt::format("there is no label '{}'", target.text));
  Instruction instruction = make(exec_bra, Pipe::control);
  if (meets_[index_] >= 0) instruction.meet = static_cast<std::uint32_t>(meets_[index_]);
  branches_.emplace_back(static_cast<std::uint32_t>(module_.code.size()), static_cast<int>(target.integer));
  emit(instruction);
}

void Decoder::brx() {
  expect_operands(2, 2);
  Instruction instruction = make(exec_brx, Pipe::control);
  instruction.a = source(operand(0), Type::u32);
  const auto found = parsed_.branch_targets.find(operand(1).text);
  if (found == parsed_.branch_targets.end()) fail(fmt::format("there is no table of labels '{}'", operand(1).text));
  std::vector<OperandRef> targets;
  for (int target : found->second) targets.push_back(static_cast<std::uint32_t>(target));
  instruction.target = add_list(targets);
  instruction.list_size = static_cast<std::uint32_t>(targets.size());
  if (meets_[index_] >= 0) instruction.meet = static_cast<std::uint32_t>(meets_[index_]);
  emit(instruction);
}

Builtin Decoder::builtin_named(std::string_view name) const {
  if (name == "vprintf") return Builtin::vprintf;
  if (name == "__assertfail" || name == "__assert_fail") return Builtin::assertfail;
  if (name == "malloc") return Builtin::malloc;
  if (name == "free") return Builtin::free;
  return Builtin::none;
}

// call{.uni} (results), target, (arguments){, prototype}
void Decoder::call() {
  std::size_t at = 0;
  const ParsedOperand* results = nullptr;
  const ParsedOperand* arguments = nullptr;
  if (operand(at).kind == ParsedOperand::Kind::list) results = &operand(at++);
  const ParsedOperand& target = operand(at++);
  if (at < operand_count() && operand(at).kind == ParsedOperand::Kind::list) arguments = &operand(at++);
  CallSite site;
  const auto place = [&](const ParsedOperand& operand, std::vector<std::uint32_t>& offsets, std::vector<std::uint32_t>& sizes) {
    if (operand.kind != ParsedOperand::Kind::variable || operand.index < 0)
      fail("arguments and results have to be .param variables");
    offsets.push_back(function_.variable_offsets[static_cast<std::size_t>(operand.index)]);
    sizes.push_back(static_cast<std::uint32_t>(parsed_.variables[static_cast<std::size_t>(operand.index)].bytes));
  };
  if (results != nullptr) {
    for (const ParsedOperand& element : results->elements) place(element, site.results, site.result_sizes);
  }
  if (arguments != nullptr) {
    for (const ParsedOperand& element : arguments->elements) place(element, site.arguments, site.argument_sizes);
  }
  Instruction instruction = make(exec_call, Pipe::control);
  if (target.kind == ParsedOperand::Kind::reg) {
    instruction.a = source(target, Type::u64);
  } else {
    const Function* function = find_function(target.text);
    if (function == nullptr) fail(fmt::format("there is no function '{}'", target.text));
    if (function->parsed->defined) {
      site.target = function;
      const ParsedFunction& callee = *function->parsed;
      if (callee.params.size() != site.arguments.size() || callee.results.size() < site.results.size()) {
        fail(fmt::format("'{}' takes {} arguments and gives {} results", target.text, callee.params.size(), callee.results.size()));
      }
    } else {
      site.builtin = builtin_named(target.text);
      if (site.builtin == Builtin::none) unsupported(fmt::format("the function '{}' is declared and not defined", target.text));
      const std::size_t least = site.builtin == Builtin::vprintf ? 2 : site.builtin == Builtin::assertfail ? 4 : 1;
      if (site.arguments.size() < least) fail(fmt::format("'{}' takes {} arguments", target.text, least));
    }
  }
  function_.calls = true;
  instruction.aux = static_cast<std::uint32_t>(module_.calls.size());
  module_.calls.push_back(std::move(site));
  emit(instruction);
}

void Decoder::ret() { emit(make(parsed_.entry ? exec_exit : exec_ret, Pipe::control)); }
void Decoder::exit() { emit(make(exec_exit, Pipe::control)); }

// bar{.cta}.sync a{, b}; .arrive a, b; .red.popc.u32 d, a{, b}, {!}c; .red.and.pred p, a{, b}, {!}c; bar.warp.sync mask;
// barrier.cluster.*
void Decoder::bar() {
  if (has("cluster")) {
    Instruction instruction = make(exec_cluster_barrier, Pipe::control);
    instruction.aux = has("arrive") ? 0 : 1;
    emit(instruction);
    return;
  }
  if (has("warp")) {
    Instruction instruction = make(exec_warp_sync, Pipe::control);
    instruction.a = source(operand(0), Type::b32);
    emit(instruction);
    return;
  }
  Instruction instruction = make(exec_bar, Pipe::control);
  if (now_->opcode == "barrier" && !has("aligned")) instruction.flags |= kPerThread;
  std::size_t at = 0;
  Destination target;
  if (has("red")) {
    instruction.aux = has("popc") ? kBarRedPopc : has("and") ? kBarRedAnd : kBarRedOr;
    target = destination(operand(at++), has("popc") ? Type::u32 : Type::pred);
    instruction.dst = target.ref;
    const ParsedOperand& vote = operand(operand_count() - 1);
    instruction.c = source_predicate(vote);
    instruction.a = source(operand(at++), Type::u32);
    if (at + 1 < operand_count()) instruction.b = source(operand(at), Type::u32);
  } else {
    instruction.aux = has("arrive") ? kBarArrive : kBarSync;
    instruction.a = operand_count() > 0 ? source(operand(0), Type::u32) : pool_.add(0, 4);
    if (operand_count() > 1) instruction.b = source(operand(1), Type::u32);
    if (instruction.aux == kBarArrive && operand_count() < 2) fail("needs a number of threads");
  }
  emit(instruction);
  finish(target);
}

// shfl.sync.mode.b32 d{|p}, a, b, c, mask
void Decoder::shfl() {
  const bool sync = has("sync");
  expect_operands(sync ? 5 : 4, sync ? 5 : 4);
  Instruction instruction = make(exec_shfl, Pipe::integer);
  instruction.aux = has("up") ? kShflUp : has("down") ? kShflDown : has("bfly") ? kShflBfly : kShflIdx;
  instruction.a = source(operand(1), Type::b32);
  instruction.b = source(operand(2), Type::u32);
  instruction.c = source(operand(3), Type::u32);
  if (sync) instruction.d = source(operand(4), Type::u32);
  const bool pair = operand(0).kind == ParsedOperand::Kind::pair;
  const Destination target = destination(pair ? operand(0).elements[0] : operand(0), Type::b32);
  instruction.dst = target.ref;
  if (pair) instruction.dst2 = destination(operand(0).elements[1], Type::pred).ref;
  emit(instruction);
  finish(target);
}

// vote.sync.mode.pred d, {!}a, mask; vote.sync.ballot.b32 d, {!}a, mask
void Decoder::vote() {
  const bool sync = has("sync");
  expect_operands(sync ? 3 : 2, sync ? 3 : 2);
  Instruction instruction = make(exec_vote, Pipe::integer);
  instruction.aux = has("all") ? kVoteAll : has("any") ? kVoteAny : has("uni") ? kVoteUni : kVoteBallot;
  instruction.a = source_predicate(operand(1));
  if (sync) instruction.d = source(operand(2), Type::u32);
  const Destination target = destination(operand(0), instruction.aux == kVoteBallot ? Type::b32 : Type::pred);
  instruction.dst = target.ref;
  emit(instruction);
  finish(target);
}

// match.any.sync.type d, a, mask; match.all.sync.type d{|p}, a, mask
void Decoder::match() {
  expect_operands(3, 3);
  const Type type = last_type();
  Instruction instruction = make(exec_match, Pipe::integer);
  instruction.aux = has("all") ? 1 : 0;
  instruction.a = source(operand(1), type);
  instruction.bytes = static_cast<std::uint8_t>(lane_bytes(type));
  instruction.d = source(operand(2), Type::u32);
  const bool pair = operand(0).kind == ParsedOperand::Kind::pair;
  const Destination target = destination(pair ? operand(0).elements[0] : operand(0), Type::b32);
  instruction.dst = target.ref;
  if (pair) instruction.dst2 = destination(operand(0).elements[1], Type::pred).ref;
  emit(instruction);
  finish(target);
}

void Decoder::redux() {
  expect_operands(3, 3);
  const Type type = last_type();
  Instruction instruction = make(exec_redux, Pipe::integer);
  std::string_view op;
  for (std::string_view known : {"add", "min", "max", "and", "or", "xor"}) {
    if (has(known)) op = known;
  }
  if (type == Type::f32 && has("NaN")) unsupported();
  instruction.atomic = find_atomic(op, type == Type::f32 && op != "add" ? Type::f32 : type);
  if (instruction.atomic == nullptr) unsupported();
  if (has("abs")) unsupported();
  instruction.a = source(operand(1), type);
  instruction.d = source(operand(2), Type::u32);
  const Destination target = destination(operand(0), type);
  instruction.dst = target.ref;
  emit(instruction);
  finish(target);
}

void Decoder::activemask() {
  expect_operands(1, 1);
  Instruction instruction = make(exec_activemask, Pipe::integer);
  const Destination target = destination(operand(0), Type::b32);
  instruction.dst = target.ref;
  emit(instruction);
  finish(target);
}

// elect.sync d|p, mask
void Decoder::elect() {
  expect_operands(2, 2);
  Instruction instruction = make(exec_elect, Pipe::integer);
  instruction.d = source(operand(1), Type::u32);
  if (operand(0).kind != ParsedOperand::Kind::pair) fail("needs d|p");
  const Destination target = destination(operand(0).elements[0], Type::b32);
  instruction.dst = target.ref;
  instruction.dst2 = destination(operand(0).elements[1], Type::pred).ref;
  emit(instruction);
  finish(target);
}

}  // namespace kw::vgpu
