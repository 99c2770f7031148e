#include "profile/instruction_kinds.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace kw {
namespace {

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(), [&](std::string_view beginning) { return text.starts_with(beginning); });
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The widest of the vector registers that are named.
int x86_width(std::string_view operands) {
  if (operands.find("%zmm") != std::string_view::npos) return 512;
  if (operands.find("%ymm") != std::string_view::npos) return 256;
  return operands.find("%xmm") != std::string_view::npos ? 128 : 0;
}

// Without AVX's v: "vfmadd231ps" and "addps" are read alike.
std::string_view sse_name(std::string_view mnemonic) {
  return mnemonic.size() > 3 && mnemonic.front() == 'v' ? mnemonic.substr(1) : mnemonic;
}

void x86_arithmetic(std::string_view mnemonic, std::string_view operands, InstructionKind& kind) {
  const std::string_view name = sse_name(mnemonic);
  const int width = x86_width(operands);
  if (width == 0) {
    kind.divides = starts_with_any(mnemonic, {"idiv", "div"});
    return;
  }
  const std::string_view ending = name.substr(name.size() - std::min<std::size_t>(2, name.size()));
  const bool packed = ending == "ps" || ending == "pd" || ending == "ph";
  const bool scalar = ending == "ss" || ending == "sd" || ending == "sh";
  if (starts_with_any(name, {"cvt"})) {
    kind.arithmetic = kind.floating = true;
    kind.vector_bits = name.find("ss") != std::string_view::npos || name.find("sd") != std::string_view::npos ? 0 : width;
    kind.latency = 4;
  } else if ((packed || scalar) &&
             starts_with_any(name,
                             {"add", "sub",   "mul", "div",   "sqrt",     "max",  "min", "fmadd",  "fmsub",  "fnmadd", "fnmsub",
                              "rcp", "rsqrt", "cmp", "round", "rndscale", "hadd", "dpp", "scalef", "getexp", "range",  "reduce"})) {
    kind.arithmetic = kind.floating = true;
    kind.vector_bits = packed ? width : 0;
    kind.adds = starts_with_any(name, {"add", "sub", "fm", "fnm", "hadd", "dpp"});
    kind.multiplies = starts_with_any(name, {"mul", "fm", "fnm", "dpp"});
    kind.divides = starts_with_any(name, {"div", "sqrt"});
    kind.latency = kind.divides ? 13 : starts_with_any(name, {"max", "min", "cmp"}) ? 2 : 4;
  } else if (scalar && starts_with_any(name, {"ucomi", "comi"})) {
    kind.arithmetic = kind.floating = true;
    kind.latency = 3;
  } else if (starts_with_any(name, {"padd", "psub", "pmul", "pmadd", "pmax", "pmin", "pavg", "pabs", "psll", "psrl", "psra", "pcmp",
                                    "psad", "pdp"})) {
    kind.arithmetic = true;
    kind.vector_bits = width;
    kind.adds = starts_with_any(name, {"padd", "psub"});
    kind.multiplies = starts_with_any(name, {"pmul", "pmadd"});
    kind.latency = kind.multiplies ? 4 : 1;
  } else {
    kind.shuffles =
        starts_with_any(name, {"shuf", "unpck", "perm", "pshuf", "punpck", "extract", "insert", "broadcast", "pbroadcast", "blend",
                               "pblend", "palign", "pack", "movhl", "movlh", "movshdup", "movsldup", "movddup"});
    kind.latency = kind.shuffles ? 1 : 0;
  }
}

// The memory operand of AT&T: displacement(base,index,scale).
void x86_memory(std::string_view mnemonic, const std::vector<std::string>& operands, InstructionKind& kind) {
  if (mnemonic.starts_with("rep ")) {
    kind.stores = starts_with_any(mnemonic, {"rep movs", "rep stos"});
    kind.loads = mnemonic.starts_with("rep movs");
    return;
  }
  const auto memory =
      std::find_if(operands.begin(), operands.end(), [](const std::string& text) { return text.find('(') != std::string::npos; });
  if (memory == operands.end() || starts_with_any(mnemonic, {"lea"})) return;
  if (starts_with_any(mnemonic, {"prefetch"})) {
    kind.prefetches = true;
    return;
  }
  const std::string_view place = std::string_view(*memory).substr(memory->find('('));
  kind.stack_slot = place.starts_with("(%rsp)");
  kind.frame_slot = place.starts_with("(%rbp)");
  kind.constant = place.starts_with("(%rip)");
  const bool is_last = memory + 1 == operands.end();
  const std::string_view name = sse_name(mnemonic);
  if (!is_last || kind.jump || kind.call || starts_with_any(name, {"cmp", "test", "comi", "ucomi", "push", "bt"}) ||
      (operands.size() == 1 && starts_with_any(name, {"mul", "imul", "div", "idiv"}))) {
    kind.loads = true;
  } else {
    const bool writes_alone = x86_width(operands.front()) > 0 ||
                              starts_with_any(name, {"mov", "set", "extract", "pextr", "pop", "pmov", "compress"}) ||
                              (!operands.empty() && operands.size() > 1 && x86_width(operands[operands.size() - 2]) > 0);
    kind.stores = true;
    kind.loads = !writes_alone;
  }
  kind.streams = kind.stores && name.starts_with("movnt");
  // Compilers that find gather instructions too slow insert one element after the other.
  kind.gathers = starts_with_any(name, {"gather", "pgather"}) || (kind.loads && starts_with_any(name, {"insertps", "pinsr"}));
}

InstructionKind x86_kind(const Instruction& instruction) {
  InstructionKind kind;
  std::string_view mnemonic = instruction.mnemonic;
  if (mnemonic.find("nop") != std::string_view::npos || mnemonic == "data16" ||
      (mnemonic == "xchg" && instruction.operands == "%ax,%ax")) {
    kind.padding = true;
    return kind;
  }
  for (const std::string_view prefix : {"notrack ", "bnd "})
    if (mnemonic.starts_with(prefix)) mnemonic.remove_prefix(prefix.size());
  kind.returns = starts_with_any(mnemonic, {"ret", "repz ret", "hlt", "ud2"});
  kind.call = mnemonic.starts_with("call");
  kind.jump = mnemonic.front() == 'j' || starts_with_any(mnemonic, {"loop", "xbegin"});
  kind.conditional = kind.jump && !mnemonic.starts_with("jmp");
  x86_arithmetic(mnemonic, instruction.operands, kind);
  x86_memory(mnemonic, split_operands(instruction.operands), kind);
  return kind;
}

// "v0.4s", "z3.d": the whole register; "v1.s[2]" is one lane.
bool arm_names_vector(std::string_view operands) {
  for (std::size_t i = 0; i + 2 < operands.size(); ++i) {
    if ((operands[i] != 'v' && operands[i] != 'z') || !is_digit(operands[i + 1])) continue;
    if (i > 0 && (std::isalnum(static_cast<unsigned char>(operands[i - 1])) != 0)) continue;
    std::size_t end = i + 1;
    while (end < operands.size() && is_digit(operands[end])) ++end;
    if (end >= operands.size() || operands[end] != '.') continue;
    ++end;
    while (end < operands.size() && std::isalnum(static_cast<unsigned char>(operands[end])) != 0) ++end;
    if (end >= operands.size() || operands[end] != '[') return true;
  }
  return false;
}

InstructionKind arm_kind(const Instruction& instruction) {
  InstructionKind kind;
  const std::string_view name = instruction.mnemonic;
  const std::string_view operands = instruction.operands;
  kind.padding = name == "nop";
  kind.returns = name == "ret" || name == "udf" || name == "brk";
  kind.call = name == "bl" || name == "blr";
  kind.conditional = starts_with_any(name, {"b.", "cbz", "cbnz", "tbz", "tbnz"});
  kind.jump = kind.conditional || name == "b" || name == "br";
  if (kind.padding || kind.returns || kind.call || kind.jump) return kind;
  kind.prefetches = starts_with_any(name, {"prfm", "prfw", "prfd"});
  kind.loads = name.starts_with("ld");
  kind.stores = name.starts_with("st");
  kind.streams = name.starts_with("stnp") || name.starts_with("stnt");
  if (kind.loads || kind.stores) {
    const auto open = operands.find('[');
    const std::string_view place = open == std::string_view::npos ? "" : operands.substr(open);
    kind.stack_slot = place.starts_with("[sp]") || place.starts_with("[sp, #");
    kind.frame_slot = place.starts_with("[x29]") || place.starts_with("[x29, #");
    kind.gathers = place.find(" z") != std::string_view::npos || place.starts_with("[z");
    return kind;
  }
  const bool vector = arm_names_vector(operands);
  const bool floats = starts_with_any(
      name, {"fadd",  "fsub", "fmul", "fmla",  "fmls", "fdiv",  "fsqrt", "fmax",  "fmin",  "fmadd",  "fmsub", "fnmadd", "fnmsub",
             "fnmul", "fabd", "fcm",  "fccmp", "fcvt", "frint", "scvtf", "ucvtf", "frecp", "frsqrt", "faddp", "fneg",   "fabs"});
  const bool integers =
      vector && starts_with_any(name, {"add", "sub",  "mul",  "mla", "mls",  "smax", "smin",  "umax",  "umin",  "abs",
                                       "shl", "sshr", "ushr", "cm",  "sdot", "udot", "smlal", "umlal", "smull", "umull"});
  kind.arithmetic = floats || integers;
  kind.floating = floats;
  kind.vector_bits = kind.arithmetic && vector ? 128 : 0;
  kind.adds = starts_with_any(name, {"fadd", "fsub", "fml", "fmadd", "fmsub", "fnmadd", "fnmsub"}) ||
              (integers && starts_with_any(name, {"add", "sub", "mla", "mls"}));
  kind.multiplies = floats && starts_with_any(name, {"fmul", "fml", "fmadd", "fmsub", "fnm"});
  kind.divides = starts_with_any(name, {"fdiv", "fsqrt", "sdiv", "udiv"});
  kind.shuffles = vector && starts_with_any(name, {"zip", "uzp", "trn", "ext", "tbl", "dup", "ins", "rev"});
  kind.latency = !kind.arithmetic ? 1 : kind.divides ? 12 : floats ? 4 : 2;
  return kind;
}

// The number behind a register's letters, e.g. 12 of "%ymm12" or "v12.4s"; -1 when it is none.
int x86_register(std::string_view operand) {
  const auto place = operand.find("mm");
  if (!operand.starts_with("%") || place != 2) return -1;
  int number = 0;
  std::size_t i = 4;
  if (i >= operand.size() || !is_digit(operand[i])) return -1;
  for (; i < operand.size() && is_digit(operand[i]); ++i) number = number * 10 + (operand[i] - '0');
  return number < 32 ? number : -1;
}

int arm_register(std::string_view operand) {
  if (operand.size() < 2 || std::string_view("vqdshbz").find(operand.front()) == std::string_view::npos || !is_digit(operand[1]))
    return -1;
  int number = 0;
  for (std::size_t i = 1; i < operand.size() && is_digit(operand[i]); ++i) number = number * 10 + (operand[i] - '0');
  return number < 32 ? number : -1;
}

}  // namespace

InstructionKind kind_of(const Instruction& instruction, std::string_view isa) {
  if (instruction.mnemonic.empty()) return {};
  if (isa == "x86") return x86_kind(instruction);
  return isa == "arm" ? arm_kind(instruction) : InstructionKind{};
}

VectorRegisters vector_registers_of(const Instruction& instruction, const InstructionKind& kind, std::string_view isa) {
  VectorRegisters registers;
  const std::vector<std::string> operands = split_operands(instruction.operands);
  if (operands.empty() || (isa != "x86" && isa != "arm")) return registers;
  const bool x86 = isa == "x86";
  const std::string_view mnemonic = instruction.mnemonic;
  const auto number = [&](const std::string& operand) { return x86 ? x86_register(operand) : arm_register(operand); };
  const bool compares = starts_with_any(sse_name(mnemonic), {"ucomi", "comi", "ptest", "testp", "fcmp"});
  const std::size_t destination = x86 ? operands.size() - 1 : 0;
  if (!kind.stores && !compares) registers.written = number(operands[destination]);
  const bool zeroes =
      x86 && starts_with_any(sse_name(mnemonic), {"xor", "pxor"}) && operands.size() > 1 && operands[0] == operands[1];
  if (zeroes) return registers;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool is_destination = i == destination && registers.written >= 0;
    bool reads = !is_destination;
    if (is_destination && x86)
      reads =
          starts_with_any(mnemonic, {"vfm", "vfnm"}) || operands[i].find("{%k") != std::string::npos ||
          (mnemonic.front() != 'v' && !starts_with_any(mnemonic, {"mov", "cvt", "pshuf", "sqrt", "lddqu"}) && operands.size() > 1);
    if (is_destination && !x86) reads = starts_with_any(mnemonic, {"fmla", "fmls", "mla", "mls", "sdot", "udot", "ins"});
    if (const int source = number(operands[i]); reads && source >= 0) registers.read.push_back(source);
  }
  return registers;
}

bool is_libm(std::string_view function) {
  static constexpr std::array<std::string_view, 31> kNames{
      "exp",  "exp2",  "expm1", "log",   "log2",  "log10",     "log1p", "pow",    "sin",   "cos",  "tan",
      "asin", "acos",  "atan",  "atan2", "sinh",  "cosh",      "tanh",  "erf",    "erfc",  "sqrt", "cbrt",
      "fmod", "hypot", "floor", "ceil",  "round", "nearbyint", "rint",  "lgamma", "tgamma"};
  function = function.substr(0, function.find('@'));
  if (function.starts_with("_ZGV")) return true;  // libmvec
  for (const std::string_view beginning : {"__", "_"})
    if (function.starts_with(beginning)) function.remove_prefix(beginning.size());
  if (const auto finite = function.find("_finite"); finite != std::string_view::npos) function = function.substr(0, finite);
  if (std::find(kNames.begin(), kNames.end(), function) != kNames.end()) return true;
  if (function.empty() || (function.back() != 'f' && function.back() != 'l')) return false;
  return std::find(kNames.begin(), kNames.end(), function.substr(0, function.size() - 1)) != kNames.end();
}

}  // namespace kw
