#include "vgpu/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "vgpu/flow.h"

namespace kw::vgpu {
namespace {

std::uint32_t round_up(std::uint64_t value, std::uint64_t to) { return static_cast<std::uint32_t>((value + to - 1) / to * to); }
constexpr std::uint32_t kLargestFrame = 1u << 19;        // bytes of a thread, as on a GPU
constexpr std::uint32_t kMostRegisterBytes = 16u << 20;  // of a warp

}  // namespace

OperandRef ConstantPool::add(std::uint64_t bits, int lane_bytes, std::uint64_t high) {
  if (lane_bytes == 4) bits &= 0xffffffffu;
  const auto key = std::make_pair(std::make_pair(bits, high), lane_bytes);
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  const std::size_t at = module_.constants.size();
  module_.constants.resize(at + static_cast<std::size_t>(lane_bytes) * kLanes / sizeof(RegisterChunk));
  auto* bytes = reinterpret_cast<std::byte*>(module_.constants.data() + at);
  for (int lane = 0; lane < kLanes; ++lane) {
    if (lane_bytes == 16) {
      const std::uint64_t both[2] = {bits, high};
      std::memcpy(bytes + lane * 16, both, 16);
    } else {
      std::memcpy(bytes + lane * lane_bytes, &bits, static_cast<std::size_t>(lane_bytes));
    }
  }
  const auto ref = static_cast<OperandRef>(at * sizeof(RegisterChunk)) | kConstantBase;
  known_[key] = ref;
  return ref;
}

OperandRef ConstantPool::add_predicate(bool value) { return add(value ? 0xffffffffu : 0u, 4); }

Decoder::Decoder(Module& module, Function& function, ConstantPool& pool, std::uint32_t module_shared)
    : module_(module), function_(function), parsed_(*function.parsed), pool_(pool), module_shared_(module_shared) {}

void Decoder::fail(const std::string& what) const {
  throw DecodeError{now_ != nullptr ? now_->line : parsed_.line,
                    now_ != nullptr ? fmt::format("{}: {}", now_->full_name(), what) : what};
}

void Decoder::unsupported(std::string_view why) const {
  throw DecodeError{now_->line,
                    fmt::format("the instruction {} is not supported{}{}", now_->full_name(), why.empty() ? "" : ": ", why)};
}

const ParsedOperand& Decoder::operand(std::size_t index) const {
  if (index >= now_->operands.size()) fail(fmt::format("operand {} is missing", index + 1));
  return now_->operands[index];
}

void Decoder::expect_operands(std::size_t least, std::size_t most) const {
  if (operand_count() < least || operand_count() > most) {
    fail(least == most ? fmt::format("has {} operands instead of {}", operand_count(), least)
                       : fmt::format("has {} operands instead of {} to {}", operand_count(), least, most));
  }
}

Type Decoder::last_type() const {
  for (auto modifier = now_->modifiers.rbegin(); modifier != now_->modifiers.rend(); ++modifier) {
    if (const Type type = type_named(*modifier); type != Type::none) return type;
  }
  fail("has no type");
}

void Decoder::place_registers() {
  std::uint32_t at = 0;
  registers_.resize(parsed_.registers.size());
  for (std::size_t i = 0; i < registers_.size(); ++i) {
    if (parsed_.registers[i] == Type::pred) {
      registers_[i] = at;
      at += 4;
    }
  }
  at = round_up(at, 64);
  for (std::size_t i = 0; i < registers_.size(); ++i) {
    const int bytes = lane_bytes(parsed_.registers[i]);
    if (bytes == 0) continue;
    registers_[i] = at;
    at += static_cast<std::uint32_t>(bytes * kLanes);
  }
  function_.register_bytes = at;
}

void Decoder::place_variables() {
  std::uint64_t frame = 0, shared = module_shared_;
  const std::size_t own = parsed_.results.size() + parsed_.params.size();
  std::uint64_t param = 0;
  for (std::size_t i = 0; i < parsed_.variables.size(); ++i) {
    const ParsedVariable& variable = parsed_.variables[i];
    std::uint32_t offset = 0;
    if (variable.space == Space::param && i < own && parsed_.entry) {
      offset = round_up(param, variable.align);
      param = offset + variable.bytes;
      function_.param_offsets.push_back(offset);
      function_.param_sizes.push_back(static_cast<std::uint32_t>(variable.bytes));
    } else if (variable.space == Space::shared) {
      offset = round_up(shared, variable.align);
      if (variable.bytes == 0) function_.uses_dynamic_shared = true;
      shared = offset + variable.bytes;
    } else if (variable.space == Space::param || variable.space == Space::local) {
      offset = round_up(frame, std::max(variable.align, 8u));
      frame = offset + variable.bytes;
    } else {
      throw DecodeError{variable.line, fmt::format("'{}': .{} variables within functions are not supported", variable.name,
                                                   space_name(variable.space))};
    }
    if (frame > kLargestFrame || param > 65536 || shared > kLargestFrame) {
      throw DecodeError{variable.line,
                        fmt::format("'{}' makes the function's {} memory too large", variable.name, space_name(variable.space))};
    }
    function_.variable_offsets.push_back(offset);
  }
  function_.param_bytes = static_cast<std::uint32_t>(param);
  function_.frame_bytes = round_up(frame, 16);
  function_.shared_bytes = static_cast<std::uint32_t>(shared);
}

OperandRef Decoder::reg(int index) const { return registers_[static_cast<std::size_t>(index)]; }
Type Decoder::reg_type(int index) const { return parsed_.registers[static_cast<std::size_t>(index)]; }

OperandRef Decoder::temporary(int lane_bytes) {
  const std::uint32_t at = round_up(function_.register_bytes, 64);
  function_.register_bytes = at + static_cast<std::uint32_t>(lane_bytes == 0 ? 64 : lane_bytes * kLanes);
  return at;
}

Instruction Decoder::make(Exec exec, Pipe pipe) const {
  Instruction instruction;
  instruction.exec = exec;
  instruction.pipe = pipe;
  return instruction;
}

Instruction& Decoder::emit(const Instruction& instruction) {
  module_.code.push_back(instruction);
  Instruction& emitted = module_.code.back();
  if (emitted.pipe == Pipe::memory || emitted.pipe == Pipe::control) emitted.slot = module_.slots++;
  emitted.line = now_->line;
  emitted.source = now_->source;
  if (now_->guard >= 0) {
    emitted.guard = reg(now_->guard);
    emitted.guard_negated = now_->guard_negated;
  }
  return emitted;
}

std::uint32_t Decoder::add_list(const std::vector<OperandRef>& refs) {
  const auto first = static_cast<std::uint32_t>(module_.lists.size());
  module_.lists.insert(module_.lists.end(), refs.begin(), refs.end());
  return first;
}

void Decoder::run() {
  place_registers();
  place_variables();
  meets_ = meeting_points(parsed_);
  is_meeting_.assign(parsed_.code.size() + 1, 0);
  for (int meet : meets_) {
    if (meet >= 0) is_meeting_[static_cast<std::size_t>(meet)] = 1;
  }
  function_.first = static_cast<std::uint32_t>(module_.code.size());
  starts_.resize(parsed_.code.size() + 1);
  for (index_ = 0; index_ < parsed_.code.size(); ++index_) {
    now_ = &parsed_.code[index_];
    starts_[index_] = static_cast<std::uint32_t>(module_.code.size());
    if (is_meeting_[index_] != 0) {
      Instruction& join = emit(make(exec_join, Pipe::control));
      join.guard = kNoOperand;
    }
    decode_one();
  }
  // A function that runs off its end returns.
  starts_[parsed_.code.size()] = static_cast<std::uint32_t>(module_.code.size());
  Instruction last = make(parsed_.entry ? exec_exit : exec_ret, Pipe::control);
  last.line = now_ != nullptr ? now_->line : parsed_.line;
  last.source = now_ != nullptr ? now_->source : -1;
  module_.code.push_back(last);
  function_.end = static_cast<std::uint32_t>(module_.code.size());
  if (function_.register_bytes > kMostRegisterBytes) {
    throw DecodeError{parsed_.line, fmt::format("'{}' has too many registers", parsed_.name)};
  }
  fix_targets(function_.first);
}

void Decoder::fix_targets(std::uint32_t first) {
  for (const auto& [emitted, target] : branches_) module_.code[emitted].target = starts_[static_cast<std::size_t>(target)];
  for (std::uint32_t i = first; i < function_.end; ++i) {
    Instruction& instruction = module_.code[i];
    if (instruction.meet != kNowhere) instruction.meet = starts_[instruction.meet];
    if (instruction.exec == exec_brx) {
      for (std::uint32_t k = 0; k < instruction.list_size; ++k) {
        std::uint32_t& target = module_.lists[instruction.target + k];
        target = starts_[target];
      }
    }
  }
}

void Decoder::decode_one() {
  for (const Row* row = kRows; row->handler != nullptr; ++row) {
    if (row->opcode == now_->opcode) return (this->*row->handler)();
  }
  semantics();
}

const Decoder::Row Decoder::kRows[] = {{"mov", &Decoder::mov},
                                       {"ld", &Decoder::ld},
                                       {"ldu", &Decoder::ld},
                                       {"st", &Decoder::st},
                                       {"atom", &Decoder::atom},
                                       {"red", &Decoder::atom},
                                       {"bra", &Decoder::bra},
                                       {"brx", &Decoder::brx},
                                       {"call", &Decoder::call},
                                       {"ret", &Decoder::ret},
                                       {"exit", &Decoder::exit},
                                       {"trap", &Decoder::trap},
                                       {"brkpt", &Decoder::trap},
                                       {"bar", &Decoder::bar},
                                       {"barrier", &Decoder::bar},
                                       {"shfl", &Decoder::shfl},
                                       {"vote", &Decoder::vote},
                                       {"match", &Decoder::match},
                                       {"redux", &Decoder::redux},
                                       {"activemask", &Decoder::activemask},
                                       {"elect", &Decoder::elect},
                                       {"membar", &Decoder::fence},
                                       {"fence", &Decoder::fence},
                                       {"cvta", &Decoder::cvta},
                                       {"isspacep", &Decoder::isspacep},
                                       {"prefetch", &Decoder::nothing},
                                       {"prefetchu", &Decoder::nothing},
                                       {"discard", &Decoder::nothing},
                                       {"applypriority", &Decoder::nothing},
                                       {"createpolicy", &Decoder::nothing},
                                       {"nanosleep", &Decoder::nanosleep},
                                       {"setmaxnreg", &Decoder::nothing},
                                       {"griddepcontrol", &Decoder::nothing},
                                       {"pmevent", &Decoder::nothing},
                                       {"cp", &Decoder::cp},
                                       {"mbarrier", &Decoder::mbarrier},
                                       {"ldmatrix", &Decoder::ldmatrix},
                                       {"stmatrix", &Decoder::stmatrix},
                                       {"wmma", &Decoder::wmma},
                                       {"wgmma", &Decoder::wgmma},
                                       {"mapa", &Decoder::mapa},
                                       {"and", &Decoder::logic},
                                       {"or", &Decoder::logic},
                                       {"xor", &Decoder::logic},
                                       {"not", &Decoder::logic},
                                       {"", nullptr}};

// The frames that calls need at most, where no function calls itself.
namespace {

std::uint32_t deepest(const Module& module, const Function& function, std::vector<int>& state, bool& recursive, int depth) {
  const auto index = static_cast<std::size_t>(&function - module.functions.data());
  if (state[index] == 1 || depth > 200) {
    recursive = true;
    return 0;
  }
  state[index] = 1;
  std::uint32_t below = 0;
  for (std::uint32_t i = function.first; i < function.end; ++i) {
    const Instruction& instruction = module.code[i];
    if (instruction.exec != exec_call) continue;
    const CallSite& site = module.calls[instruction.aux];
    if (site.target != nullptr) {
      below = std::max(below, deepest(module, *site.target, state, recursive, depth + 1));
    } else if (site.builtin == Builtin::none) {
      recursive = true;  // by address: unknown
    }
  }
  state[index] = 0;
  return function.frame_bytes + below;
}

}  // namespace

Status decode_module(Module& module) {
  ParsedModule& parsed = *module.parsed;
  try {
    ConstantPool pool(module);
    // Shared variables of the module come first, at the same place for every kernel.
    std::uint32_t shared = 0;
    for (const ParsedVariable& variable : parsed.variables) {
      if (variable.space == Space::shared && variable.bytes != 0)
        shared = round_up(shared, variable.align) + static_cast<std::uint32_t>(variable.bytes);
    }
    // Those of functions that are called too, because they may be called from any kernel.
    for (const ParsedFunction& function : parsed.functions) {
      if (function.entry) continue;
      for (const ParsedVariable& variable : function.variables) {
        if (variable.space == Space::shared) shared = round_up(shared, variable.align) + static_cast<std::uint32_t>(variable.bytes);
      }
    }
    module.functions.resize(parsed.functions.size());
    for (std::size_t i = 0; i < parsed.functions.size(); ++i) {
      Function& function = module.functions[i];
      function.module = &module;
      function.parsed = &parsed.functions[i];
      function.name = parsed.functions[i].name;
      function.address = kFunctionTag | (i + 1);
      module.function_index[function.name] = static_cast<std::uint32_t>(i);
    }
    std::uint32_t called = 0;
    for (const ParsedVariable& variable : parsed.variables) {
      if (variable.space == Space::shared && variable.bytes != 0)
        called = round_up(called, variable.align) + static_cast<std::uint32_t>(variable.bytes);
    }
    for (Function& function : module.functions) {
      if (!function.parsed->defined) continue;
      Decoder(module, function, pool, function.parsed->entry ? shared : called).run();
      if (!function.parsed->entry) called = std::max(called, function.shared_bytes);
    }
    for (Function& function : module.functions) {
      std::vector<int> state(module.functions.size(), 0);
      module.deepest_frame = std::max(module.deepest_frame, deepest(module, function, state, module.recursive, 0));
    }
  } catch (const DecodeError& error) {
    return bad_input(fmt::format("{}, PTX line {}: {}", module.name, error.line, error.what));
  }
  return {};
}

std::string Module::file_of(int source) const {
  if (source < 0) return {};
  const auto found = parsed->files.find(parsed->source_lines[static_cast<std::size_t>(source)].file);
  return found == parsed->files.end() ? std::string() : found->second;
}

int Module::line_of(int source) const { return source < 0 ? 0 : parsed->source_lines[static_cast<std::size_t>(source)].line; }

}  // namespace kw::vgpu
