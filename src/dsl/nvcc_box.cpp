#include "dsl/nvcc_box.h"

#include <fmt/format.h>

#include "vgpu/toolkit.h"

namespace kw {
namespace {

constexpr std::uint64_t kNvccMemory = std::uint64_t{12} << 30;

}  // namespace

Result<NvccBox> NvccBox::make(const fs::path& folder, const CompileOptions& options) {
  KW_TRY(const fs::path nvcc, vgpu::find_nvcc());
  std::error_code error;
  const fs::path program = fs::canonical(nvcc, error);
  if (error) return bad_input(fmt::format("{}: {}", nvcc.string(), error.message()), "set KERNELWRIGHT_NVCC to NVIDIA's compiler");
  NvccBox made;
  auto& box = made.box;
  box.argv = {program.string()};
  box.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"LC_ALL", "C"}};
  for (const char* system : {"/usr", "/lib", "/lib64", "/bin"})
    if (fs::exists(system)) box.read_only.push_back({system, ""});
  KW_TRY(const std::string toolkit, made.show(program.parent_path().parent_path()));
  (void)toolkit;
  box.read_write.push_back({folder.string(), ""});
  box.folder = folder.string();
  box.dev_null = true;
  options.bound(box.limits);
  box.limits.memory_bytes = kNvccMemory;
  box.limits.file_bytes = 512 << 20;
  box.limits.processes = 64;
  return made;
}

Result<std::string> NvccBox::show(const fs::path& path) {
  std::error_code error;
  const std::string real = fs::canonical(path, error).string();
  if (error) return bad_input(fmt::format("{}: {}", path.string(), error.message()));
  box.read_only.push_back({real, ""});
  shown.push_back(real);
  return real;
}

}  // namespace kw
