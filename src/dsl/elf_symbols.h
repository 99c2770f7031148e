// The symbols of a shared object, read from the file without running or mapping any of it.
#pragma once

#include <string>
#include <vector>

#include "base/files.h"

namespace kw {

struct ElfSymbols {
  std::vector<std::string> imported;  // undefined in the dynamic table
  std::vector<std::string> defined;   // functions; linking makes hidden ones local, so local ones are here too
};

Result<ElfSymbols> elf_symbols(const fs::path& object);

}  // namespace kw
