#include "dsl/python_box.h"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "problem/oracle_client.h"

namespace kw {
namespace {

// What PyTorch, its extensions and Triton import, and what goes with them; prefixes of names in site-packages.
constexpr std::array<std::string_view, 21> kPackages{
    "torch",      "functorch",     "triton",     "nvidia",     "typing_extensions", "sympy",       "mpmath",
    "networkx",   "jinja2",        "Jinja2",     "markupsafe", "MarkupSafe",        "filelock",    "fsspec",
    "setuptools", "pkg_resources", "_distutils", "distutils-", "packaging",         "kernelguard", "cuda"};
// Beside it only where PyTorch itself may do the work.
constexpr std::array<std::string_view, 1> kArrayPackages{"numpy"};

bool begins_with_any(const std::string& name, std::span<const std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// The interpreter's own folder with the links on the way to it resolved, but not the last one: Python tells by it where its
// packages are.
fs::path interpreter_of(const std::string& python) {
  std::error_code error;
  const fs::path folder = fs::canonical(fs::path(python).parent_path(), error);
  return error ? fs::path(python) : folder / fs::path(python).filename();
}

// The installation that a virtual environment is made from, where it is not the system's.
void show_installation(sandbox::Spec& box, const fs::path& program) {
  std::error_code error;
  const fs::path prefix = fs::canonical(program, error).parent_path().parent_path();
  if (error || prefix.string().starts_with("/usr")) return;
  for (const char* part : {"bin", "lib", "include"})
    if (fs::exists(prefix / part, error)) box.read_only.push_back({(prefix / part).string(), ""});
}

void show_packages(sandbox::Spec& box, const fs::path& environment, bool allow_torch) {
  if (!fs::exists(environment / "pyvenv.cfg")) return;  // the system's Python: its packages are below /usr
  box.read_only.push_back({(environment / "pyvenv.cfg").string(), ""});
  box.read_only.push_back({(environment / "bin").string(), ""});
  for (const auto& version : entries_of(environment / "lib")) {
    for (const auto& package : entries_of(version.path() / "site-packages")) {
      const std::string name = package.path().filename().string();
      if (begins_with_any(name, kPackages) || (allow_torch && begins_with_any(name, kArrayPackages)))
        box.read_only.push_back({package.path().string(), ""});
    }
  }
}

}  // namespace

std::vector<std::string> packages_of_candidates() { return {kPackages.begin(), kPackages.end()}; }

Result<sandbox::Spec> python_box(const PythonBuild& build, const std::string& gpu_library, PythonLife life) {
  KW_TRY(const std::string python, oracle_python());
  KW_TRY(const fs::path root, install_root());
  const fs::path program = interpreter_of(python);
  const bool building = life == PythonLife::building;
  sandbox::Spec box;
  box.argv = {program.string(), "-m", "kernelwright_guest", building ? "build" : "serve"};
  if (building) box.argv.push_back(build.folder);
  box.environment = {{"PATH", program.parent_path().string() + ":/usr/local/bin:/usr/bin:/bin"},
                     {"LC_ALL", "C.UTF-8"},
                     {"HOME", "/tmp"},
                     {"PYTHONPATH", (root / "python").string()},
                     {"PYTHONDONTWRITEBYTECODE", "1"},
                     {"PYTHONNOUSERSITE", "1"},
                     {"PYTHONWARNINGS", "ignore"},
                     {"CUDA_VISIBLE_DEVICES", ""},
                     {"MAX_JOBS", "2"},
                     {"TORCH_EXTENSIONS_DIR", build.folder + "/extensions"}};
  for (const char* shown : {"/usr", "/lib", "/lib64", "/bin", "/sys/devices/system/cpu", "/proc/cpuinfo"})
    if (fs::exists(shown)) box.read_only.push_back({shown, ""});
  show_installation(box, program);
  show_packages(box, program.parent_path().parent_path(), build.allow_torch);
  box.read_only.push_back({fs::canonical(root / "python").string(), ""});
  box.read_only.push_back({fs::canonical(root / "oracle/kw_seeded").string(), ""});
  box.environment["PYTHONPATH"] = fs::canonical(root / "python").string() + ":" + fs::canonical(root / "oracle").string();
  if (build.triton) {
    box.environment["KERNELWRIGHT_VGPU_LIBRARY"] = gpu_library;
    box.environment["TRITON_CACHE_DIR"] = (building ? build.folder : box.environment["HOME"]) + "/triton";
    box.read_only.push_back({gpu_library, ""});
  }
  if (build.blank) box.read_only.push_back({build.blank->code.string(), ""});
  (building ? box.read_write : box.read_only).push_back({build.folder, ""});
  box.folder = build.folder;
  box.dev_null = true;
  box.limits.file_bytes = std::uint64_t{1} << 30;
  box.limits.processes = building || build.triton ? 64 : 1;  // Triton runs ptxas where it meets a new case
  return box;
}

}  // namespace kw
