// Which table knows an opcode. An opcode of several (add of integers and of floats) is asked for in each.
#include <unordered_map>

#include "vgpu/sem_modifiers.h"

namespace kw::vgpu {
namespace {

using Finder = Semantics (*)(std::string_view opcode, Modifiers modifiers);

struct Finders {
  Finder first = nullptr, second = nullptr;
};

const std::unordered_map<std::string_view, Finders>& finders() {
  static const std::unordered_map<std::string_view, Finders> kFinders = [] {
    std::unordered_map<std::string_view, Finders> table;
    const auto row = [&table](Finder finder, std::initializer_list<std::string_view> opcodes) {
      for (const std::string_view opcode : opcodes) {
        Finders& entry = table[opcode];
        (entry.first == nullptr ? entry.first : entry.second) = finder;
      }
    };
    row(find_integer, {"add", "sub", "mul", "mad", "mul24", "mad24", "sad", "div",  "rem",  "abs",  "neg", "min",
                       "max", "shl", "shr", "and", "or",    "xor",   "not", "cnot", "addc", "subc", "madc"});
    row(find_bits, {"popc",  "clz",       "bfind", "fns",   "brev",  "bfe",   "bfi",    "bmsk",     "szext",
                    "shf",   "lop3",      "prmt",  "dp4a",  "dp2a",  "vadd2", "vsub2",  "vavrg2",   "vmin2",
                    "vmax2", "vabsdiff2", "vadd4", "vsub4", "vmin4", "vmax4", "vavrg4", "vabsdiff4"});
    row(find_float, {"add", "sub", "mul", "fma", "mad", "abs", "neg", "min", "max", "div", "rcp", "sqrt", "rsqrt", "ex2", "lg2",
                     "sin", "cos", "tanh"});
    row(find_compare, {"setp", "set", "selp", "slct", "testp", "copysign"});
    row(find_convert, {"cvt"});
    row(find_matrix, {"mma", "wmma", "movmatrix"});
    return table;
  }();
  return kFinders;
}

bool is_found(const Semantics& semantics) { return semantics.lane != nullptr || semantics.fragment != nullptr; }

}  // namespace

bool& portable_only() {
  static bool only = false;
  return only;
}

Semantics find_semantics(std::string_view opcode, std::span<const std::string_view> modifiers) {
  const auto at = finders().find(opcode);
  if (at == finders().end()) return {};
  Semantics found = at->second.first(opcode, Modifiers(modifiers));
  if (!is_found(found) && at->second.second != nullptr) found = at->second.second(opcode, Modifiers(modifiers));
  return is_found(found) ? found : Semantics{};
}

}  // namespace kw::vgpu
