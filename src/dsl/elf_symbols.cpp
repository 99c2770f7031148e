#include "dsl/elf_symbols.h"

#include <elf.h>
#include <cstring>
#include <optional>

namespace kw {
namespace {

// A struct at an offset, which need not be aligned; nothing when it lies outside the file.
template <typename T>
std::optional<T> at(const std::string& file, std::uint64_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return std::nullopt;
  T copy;
  std::memcpy(&copy, file.data() + offset, sizeof copy);
  return copy;
}

std::string name_at(const std::string& file, const Elf64_Shdr& strings, std::uint32_t index) {
  if (strings.sh_offset > file.size() || index >= strings.sh_size || file.size() - strings.sh_offset < strings.sh_size) return {};
  const char* begin = file.data() + strings.sh_offset + index;
  return {begin, ::strnlen(begin, strings.sh_size - index)};
}

}  // namespace

Result<ElfSymbols> elf_symbols(const fs::path& object) {
  KW_TRY(const std::string file, read_file(object));
  const auto broken = [&] { return internal_error(object.string() + " is not a shared object that can be read"); };
  const auto header = at<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64) return broken();
  // Where there are more sections than the header can count, the first one tells how many.
  const auto first = at<Elf64_Shdr>(file, header->e_shoff);
  if (!first || header->e_shoff == 0) return broken();
  const std::uint64_t sections = header->e_shnum != 0 ? header->e_shnum : first->sh_size;
  if (sections == 0) return broken();
  ElfSymbols symbols;
  for (std::uint64_t i = 0; i < sections; ++i) {
    const auto section = at<Elf64_Shdr>(file, header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) return broken();
    if (constexpr auto kWritten = SHF_ALLOC | SHF_WRITE; (section->sh_flags & kWritten) == kWritten)
      ((section->sh_flags & SHF_TLS) != 0 ? symbols.thread_bytes : symbols.variable_bytes) += static_cast<double>(section->sh_size);
    if (section->sh_type != SHT_DYNSYM && section->sh_type != SHT_SYMTAB) continue;
    const auto strings = at<Elf64_Shdr>(file, header->e_shoff + section->sh_link * sizeof(Elf64_Shdr));
    if (!strings) return broken();
    for (std::uint64_t k = 0; k < section->sh_size / sizeof(Elf64_Sym); ++k) {
      const auto symbol = at<Elf64_Sym>(file, section->sh_offset + k * sizeof(Elf64_Sym));
      if (!symbol) return broken();
      const auto type = ELF64_ST_TYPE(symbol->st_info);
      if (type == STT_SECTION || type == STT_FILE) continue;
      const std::string name = name_at(file, *strings, symbol->st_name);
      if (name.empty()) continue;
      const bool is_dynamic = section->sh_type == SHT_DYNSYM;
      if (symbol->st_shndx == SHN_UNDEF && is_dynamic) symbols.imported.push_back(name);
      if (symbol->st_shndx != SHN_UNDEF && is_dynamic) symbols.exported.push_back(name);
      if (symbol->st_shndx != SHN_UNDEF && !is_dynamic && type == STT_FUNC) symbols.defined.push_back(name);
    }
  }
  return symbols;
}

}  // namespace kw
