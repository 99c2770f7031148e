#include "search/machine_code.h"

#include <iterator>

namespace kw {

Result<Disassembly> disassembly_of(const CompiledKernel& kernel) {
  if (!kernel.opencl) return disassemble(kernel.object);
  Disassembly all;
  for (const std::string& object : kernel.opencl->code) {
    KW_TRY(Disassembly one, disassemble(object));
    all.isa = one.isa;
    std::move(one.functions.begin(), one.functions.end(), std::back_inserter(all.functions));
    std::move(one.data.begin(), one.data.end(), std::back_inserter(all.data));
  }
  return all;
}

}  // namespace kw
