// A ParsedModule to a Module that can be executed: operands get places, names get addresses, instructions get functions. An
// instruction that isn't supported is an error that names it and its line.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "vgpu/exec.h"
#include "vgpu/program.h"

namespace kw::vgpu {

// Thrown within decode alone.
struct DecodeError {
  int line;
  std::string what;
};

// Fills everything of a Module but its variables' places, which have to be there already.
Status decode_module(Module& module);

class ConstantPool {
 public:
  explicit ConstantPool(Module& module) : module_(module) {}
  OperandRef add(std::uint64_t bits, int lane_bytes, std::uint64_t high = 0);
  OperandRef add_predicate(bool value);

 private:
  Module& module_;
  std::map<std::pair<std::pair<std::uint64_t, std::uint64_t>, int>, OperandRef> known_;
};

class Decoder {
 public:
  Decoder(Module& module, Function& function, ConstantPool& pool, std::uint32_t module_shared);
  void run();

 private:
  using Handler = void (Decoder::*)();
  struct Row {
    std::string_view opcode;
    Handler handler;
  };
  static const Row kRows[];

  void place_registers();
  void place_variables();
  void decode_one();
  void fix_targets(std::uint32_t first);

  // Emits what stands ready in `next_`; its guard and lines are those of the current instruction.
  Instruction& emit(const Instruction& instruction);
  Instruction make(Exec exec, Pipe pipe) const;
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void unsupported(std::string_view why = {}) const;
  [[nodiscard]] const ParsedOperand& operand(std::size_t index) const;
  [[nodiscard]] std::size_t operand_count() const { return now_->operands.size(); }
  void expect_operands(std::size_t least, std::size_t most) const;
  [[nodiscard]] bool has(std::string_view modifier) const { return now_->has(modifier); }
  [[nodiscard]] Type last_type() const;

  // operands
  OperandRef reg(int index) const;
  Type reg_type(int index) const;
  OperandRef temporary(int lane_bytes);
  OperandRef source(const ParsedOperand& operand, Type type);
  OperandRef source_predicate(const ParsedOperand& operand);
  OperandRef literal(const ParsedOperand& operand, Type type);
  OperandRef special(const ParsedOperand& operand, Type type);
  OperandRef resize(OperandRef from, int from_bytes, int to_bytes, bool sign);
  OperandRef variable_address(const ParsedOperand& operand, int lane_bytes);
  struct Destination {
    OperandRef ref = kNoOperand;
    OperandRef real = kNoOperand;  // where it has to be resized into afterwards
    int from_bytes = 0, to_bytes = 0;
    bool sign = false;
  };
  Destination destination(const ParsedOperand& operand, Type type);
  void finish(const Destination& destination);
  void address(const ParsedOperand& operand, Instruction& instruction);
  std::uint32_t add_list(const std::vector<OperandRef>& refs);
  const ParsedVariable* module_variable(std::string_view name, std::size_t* index) const;
  const Function* find_function(std::string_view name) const;
  Space space_modifier() const;

  // instructions, in decode_basic.cpp
  void semantics();
  void mov();
  void cvta();
  void isspacep();
  void logic();
  void nothing();
  void trap();
  void nanosleep();
  void mapa();
  // decode_memory.cpp
  void ld();
  void st();
  void atom();
  void fence();
  void cp();
  void cp_tensor();  // decode_tensor.cpp
  void mbarrier();
  void ldmatrix();
  void stmatrix();
  void wmma();
  void wgmma();  // decode_wgmma.cpp
  std::uint8_t strength() const;
  void element_of(Instruction& instruction, Type& type) const;
  // decode_control.cpp
  void bra();
  void brx();
  void call();
  void ret();
  void exit();
  void bar();
  void shfl();
  void vote();
  void match();
  void redux();
  void activemask();
  void elect();
  Builtin builtin_named(std::string_view name) const;

  Module& module_;
  Function& function_;
  const ParsedFunction& parsed_;
  ConstantPool& pool_;
  std::uint32_t module_shared_;
  const ParsedInstruction* now_ = nullptr;
  std::size_t index_ = 0;
  std::vector<OperandRef> registers_;
  std::vector<std::uint32_t> starts_;  // by parsed instruction
  std::vector<int> meets_;
  std::vector<char> is_meeting_;
  std::vector<std::pair<std::uint32_t, int>> branches_;  // emitted, parsed target
};

}  // namespace kw::vgpu
