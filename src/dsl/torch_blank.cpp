#include "dsl/torch_blank.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "base/hash.h"
#include "problem/oracle_client.h"

namespace kw {
namespace {

// Part of the copy's name: another rule is another copy.
constexpr int kRule = 3;
#if defined(__x86_64__)
constexpr char kTrap = '\xcc';
#else
constexpr char kTrap = '\0';
#endif

// In a mangled name: at::native, at::cpu, at::vec, and the libraries inside of PyTorch's.
constexpr std::array<std::string_view, 7> kComputing{"2at6native", "2at3cpu", "2at3vec", "4dnnl", "6fbgemm", "5Xbyak", "6asmjit"};
// Names in C are a BLAS's, an FFT's or a micro-kernel's but for these.
constexpr std::array<std::string_view, 13> kPlain{"_",           "aoti_", "MKL_Set_", "mkl_serv_", "get_tls",   "pthreadpool_",
                                                  "cpuinfo_",    "clog_", "uv_",      "nvtx",      "frame_dum", "register_t",
                                                  "deregister_t"};
// What allocates, copies, fills, views and answers questions, by how a name within at::native begins.
constexpr std::array<std::string_view, 68> kHarmless{"empty",
                                                     "zeros",
                                                     "zero_",
                                                     "ones",
                                                     "full",
                                                     "new_",
                                                     "arange",
                                                     "compute_arange",
                                                     "scalar_ten",
                                                     "fill",
                                                     "copy",
                                                     "direct_copy",
                                                     "reduced_flo",
                                                     "float_bflo",
                                                     "bfloat16_copy",
                                                     "conj_kernel",
                                                     "clone",
                                                     "contiguous",
                                                     "resize",
                                                     "_resize",
                                                     "maybe_",
                                                     "set_",
                                                     "checkSetStorage",
                                                     "view",
                                                     "reshape",
                                                     "_reshape",
                                                     "unflatten",
                                                     "flatten",
                                                     "expand",
                                                     "broadcast",
                                                     "slice",
                                                     "select",
                                                     "narrow",
                                                     "transpose",
                                                     "swap",
                                                     "moveaxis",
                                                     "movedim",
                                                     "permute",
                                                     "_permute",
                                                     "squeeze",
                                                     "unsqueeze",
                                                     "infer",
                                                     "diagonal",
                                                     "as_strided",
                                                     "checkAsStr",
                                                     "checkInBou",
                                                     "alias",
                                                     "detach",
                                                     "lift",
                                                     "is_",
                                                     "resolve_",
                                                     "_conj",
                                                     "_adjoint",
                                                     "adjoint",
                                                     "_to_copy",
                                                     "_unsafe_view",
                                                     "_local_scalar",
                                                     "check_",
                                                     "unbind",
                                                     "split",
                                                     "chunk",
                                                     "item",
                                                     "DispatchStub",
                                                     "clear_computation",
                                                     "tensor_split",
                                                     "_reinterpret",
                                                     "compute_cpu",
                                                     "_matmul_impl"};
constexpr std::array<std::string_view, 9> kHarmlessWhole{"t", "to", "mT", "mH", "real", "imag", "unfold", "matrix_H", "pin_memory"};
// Conversions that copies between types go through.
constexpr std::array<std::string_view, 3> kConversions{"Float16", "fbgemmHas", "fbgemmIs"};

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Names stand in a mangled name with their length before them.
bool has_harmless_part(std::string_view mangled) {
  const auto is_digit = [&](std::size_t i) { return std::isdigit(static_cast<unsigned char>(mangled[i])) != 0; };
  for (std::size_t i = 0; i < mangled.size();) {
    if (!is_digit(i)) {
      ++i;
      continue;
    }
    std::size_t length = 0, begin = i;
    for (; begin < mangled.size() && is_digit(begin) && length < mangled.size(); ++begin)
      length = 10 * length + static_cast<std::size_t>(mangled[begin] - '0');
    if (length > mangled.size() - begin) {
      // A number and a name that begins after it, as in the L and the index of a template's argument.
      ++i;
      continue;
    }
    const std::string_view name = mangled.substr(begin, length);
    const auto begins = [&](std::string_view word) { return name.starts_with(word); };
    if (std::any_of(kHarmless.begin(), kHarmless.end(), begins) ||
        std::find(kHarmlessWhole.begin(), kHarmlessWhole.end(), name) != kHarmlessWhole.end())
      return true;
    i = length == 0 ? begin : begin + length;
  }
  return false;
}

// at::native::name(...) itself, which hands on to the dispatcher or to a kernel: kernels are local to a file, parts of a class,
// templates, or say so.
bool only_hands_on(std::string_view mangled) {
  constexpr std::string_view kNative = "_ZN2at6native";
  if (!mangled.starts_with(kNative)) return false;
  std::size_t at = kNative.size(), length = 0;
  for (; at < mangled.size() && std::isdigit(static_cast<unsigned char>(mangled[at])) != 0 && length < mangled.size(); ++at)
    length = 10 * length + static_cast<std::size_t>(mangled[at] - '0');
  if (length == 0 || length >= mangled.size() - at || mangled[at + length] != 'E') return false;
  const std::string_view name = mangled.substr(at, length);
  constexpr std::array<std::string_view, 5> kComputes{"cpu", "kernel", "impl", "mkl", "gemm"};
  return std::none_of(kComputes.begin(), kComputes.end(), [&](std::string_view word) { return contains(name, word); });
}

class Descriptor {
 public:
  explicit Descriptor(const fs::path& file) : fd_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  // Nothing where the file is shorter.
  [[nodiscard]] std::optional<std::string> at(std::uint64_t offset, std::uint64_t bytes) const {
    struct stat about {};
    if (fd_ < 0 || ::fstat(fd_, &about) != 0 || offset > static_cast<std::uint64_t>(about.st_size) ||
        bytes > static_cast<std::uint64_t>(about.st_size) - offset)
      return std::nullopt;
    std::string text(bytes, '\0');
    for (std::uint64_t done = 0; done < bytes;) {
      const ssize_t got = ::pread(fd_, text.data() + done, bytes - done, static_cast<off_t>(offset + done));
      if (got <= 0) return std::nullopt;
      done += static_cast<std::uint64_t>(got);
    }
    return text;
  }
  template <typename T>
  [[nodiscard]] std::optional<T> one(std::uint64_t offset) const {
    const auto text = at(offset, sizeof(T));
    if (!text) return std::nullopt;
    T copy;
    std::memcpy(&copy, text->data(), sizeof copy);
    return copy;
  }

 private:
  int fd_;
};

struct Section {
  std::string symbols, names;
};

std::optional<Section> symbol_table(const Descriptor& file, const Elf64_Ehdr& header) {
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = file.one<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr));
    if (!section || section->sh_type != SHT_SYMTAB) continue;
    const auto strings = file.one<Elf64_Shdr>(header.e_shoff + section->sh_link * sizeof(Elf64_Shdr));
    if (!strings) return std::nullopt;
    auto symbols = file.at(section->sh_offset, section->sh_size), names = file.at(strings->sh_offset, strings->sh_size);
    if (!symbols || !names || names->empty() || names->back() != '\0') return std::nullopt;
    return Section{std::move(*symbols), std::move(*names)};
  }
  return std::nullopt;
}

// The segment with the code, kernels in it overwritten; functions that stay keep every byte, also where they share some with
// others.
std::string without_kernels(std::string code, std::uint64_t address, const Section& table) {
  const std::string whole = code;
  const auto each_function = [&](auto&& work) {
    for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= table.symbols.size(); at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, table.symbols.data() + at, sizeof symbol);
      const auto type = ELF64_ST_TYPE(symbol.st_info);
      if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_size == 0 || symbol.st_name >= table.names.size()) continue;
      if (symbol.st_value < address || symbol.st_value - address > code.size() ||
          symbol.st_size > code.size() - (symbol.st_value - address))
        continue;
      work(table.names.data() + symbol.st_name, symbol.st_value - address, symbol.st_size);
    }
  };
  each_function([&](const char* name, std::uint64_t from, std::uint64_t size) {
    if (is_kernel_of_torch(name)) std::fill_n(code.begin() + static_cast<std::ptrdiff_t>(from), size, kTrap);
  });
  each_function([&](const char* name, std::uint64_t from, std::uint64_t size) {
    if (!is_kernel_of_torch(name))
      std::copy_n(whole.begin() + static_cast<std::ptrdiff_t>(from), size, code.begin() + static_cast<std::ptrdiff_t>(from));
  });
  return code;
}

Result<fs::path> library_of_torch() {
  KW_TRY(const std::string python, oracle_python());
  std::error_code none;
  const fs::path environment = fs::canonical(fs::path(python).parent_path(), none).parent_path();
  for (const auto& version : entries_of(environment / "lib"))
    for (const char* packages : {"site-packages", "dist-packages"})
      if (const fs::path file = version.path() / packages / "torch/lib/libtorch_cpu.so"; fs::exists(file, none))
        return fs::canonical(file, none);
  return fs::path();
}

}  // namespace

bool is_kernel_of_torch(std::string_view mangled) {
  const auto begins = [&](std::string_view prefix) { return mangled.starts_with(prefix); };
  const auto is_in_it = [&](std::string_view part) { return contains(mangled, part); };
  if (!begins("_Z")) return std::none_of(kPlain.begin(), kPlain.end(), begins) || begins("_mkl");
  if (std::none_of(kComputing.begin(), kComputing.end(), is_in_it)) return false;
  if (contains(mangled, "6fbgemm") && std::any_of(kConversions.begin(), kConversions.end(), is_in_it)) return false;
  return !only_hands_on(mangled) && !has_harmless_part(mangled);
}

Result<std::optional<BlankTorch>> blank_torch() {
  std::optional<BlankTorch> none;
  KW_TRY(const fs::path library, library_of_torch());
  struct stat about {};
  if (library.empty() || ::stat(library.c_str(), &about) != 0) return none;
  const Descriptor file(library);
  const auto header = file.one<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64) return none;
  std::optional<Elf64_Phdr> segment;
  for (std::uint64_t i = 0; i < header->e_phnum; ++i) {
    const auto each = file.one<Elf64_Phdr>(header->e_phoff + i * sizeof(Elf64_Phdr));
    if (each && each->p_type == PT_LOAD && (each->p_flags & PF_X) != 0) {
      if (segment) return none;  // two of them: no library that is known
      segment = each;
    }
  }
  constexpr std::uint64_t kPage = 4096;
  if (!segment || segment->p_vaddr % kPage != segment->p_offset % kPage) return none;
  const std::uint64_t lead = segment->p_vaddr % kPage;
  BlankTorch blank{library, "", segment->p_vaddr - lead, segment->p_filesz + lead, {}};
  const fs::path folder = cache_home() / "torch-without-kernels";
  const std::string of_library = key_of(library.string()).substr(0, 12) + "-";
  const fs::path place = folder / (of_library + key_of(std::to_string(kRule), std::to_string(about.st_size),
                                                       std::to_string(about.st_mtim.tv_sec), std::to_string(about.st_mtim.tv_nsec))
                                                    .substr(0, 24));
  blank.held = use_cached(place, Missing::leave);
  blank.code = place / "code";
  std::error_code ignored;
  if (fs::file_size(blank.code, ignored) != blank.bytes || ignored) {
    const auto table = symbol_table(file, *header);
    auto code = file.at(segment->p_offset - lead, blank.bytes);
    if (!table || !code) return none;
    blank.held = nullptr;
    KW_CHECK(make_folders(folder));
    for (const auto& other : entries_of(folder))  // of the library as it was before, or by another rule
      if (other.path() != place && other.path().filename().string().starts_with(of_library)) remove_cached(other.path());
    KW_TRY(const CacheWorkFolder work, CacheWorkFolder::make_in(folder));
    const fs::path made = work.path() / "copy";
    KW_CHECK(make_folders(made));
    KW_CHECK(write_file_atomically(made / "code", without_kernels(std::move(*code), blank.address, *table)));
    fs::rename(made, place, ignored);
    if (ignored && !fs::exists(blank.code)) return internal_error("cannot write " + place.string());
    blank.held = use_cached(place, Missing::leave);
  }
  blank.code = fs::canonical(blank.code, ignored);
  return std::optional(blank);
}

std::string executable_objection(int process, const BlankTorch& blank) {
  struct stat library {
  }, code{};
  if (::stat(blank.library.c_str(), &library) != 0 || ::stat(blank.code.c_str(), &code) != 0) return "the library is gone";
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  bool is_blank = false;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string range, rights, offset, device, path;
    std::uint64_t inode = 0;
    words >> range >> rights >> offset >> device >> inode >> path;
    if (rights.size() < 3 || rights[2] != 'x') continue;
    if (inode == library.st_ino) return "PyTorch's own kernels can be executed in it";
    if (rights[1] == 'w' || (inode == 0 && !path.starts_with("[v"))) return "memory that it filled itself can be executed in it";
    is_blank = is_blank || inode == code.st_ino;
  }
  return is_blank ? "" : "PyTorch's code is not where it was put";
}

}  // namespace kw
