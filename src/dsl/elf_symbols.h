// The symbols of a shared object and what its variables take, read from the file without running or mapping any of it.
#pragma once

#include <string>
#include <vector>

#include "base/files.h"

namespace kw {

struct ElfSymbols {
  std::vector<std::string> imported;  // undefined in the dynamic table
  std::vector<std::string> exported;  // defined in the dynamic table
  std::vector<std::string> defined;   // functions; linking makes hidden ones local, so local ones are here too
  double variable_bytes = 0;          // that can be written to, once a process
  double thread_bytes = 0;            // the same for each thread that uses them
};

Result<ElfSymbols> elf_symbols(const fs::path& object);

}  // namespace kw
