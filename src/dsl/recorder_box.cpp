#include "dsl/recorder_box.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/subprocess.h"
#include "problem/oracle_client.h"
#include "vgpu/toolkit.h"

namespace kw {
namespace {

// PyTorch maps the libraries of CUDA; little of it is ever touched.
constexpr std::uint64_t kRecorderMemory = std::uint64_t{40} << 30;
// A tensor here, and again with contents where a kernel is autotuned.
constexpr std::uint64_t kCopies = 3;

// Prints the folders that the interpreter runs from, then "name version" or "name -" for each package.
constexpr const char* kAskPython =
    "import sys\n"
    "from importlib import metadata\n"
    "print(sys.base_prefix)\n"
    "print(sys.prefix)\n"
    "for name in sys.argv[1:]:\n"
    "    try:\n"
    "        print(name, metadata.version(name))\n"
    "    except metadata.PackageNotFoundError:\n"
    "        print(name, '-')\n";

Result<std::vector<std::string>> ask_python(const std::vector<std::string>& names) {
  static std::map<std::string, std::vector<std::string>> known;  // per process: packages do not change under a run
  KW_TRY(const std::string python, oracle_python());
  const std::string key = fmt::format("{} {}", python, fmt::join(names, " "));
  if (const auto it = known.find(key); it != known.end()) return it->second;
  std::vector<std::string> argv{python, "-c", kAskPython};
  argv.insert(argv.end(), names.begin(), names.end());
  KW_TRY(const CommandOutcome outcome, run_command({argv, {}, "", std::chrono::seconds(60), 65536}));
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < outcome.out.size();) {
    const std::size_t end = std::min(outcome.out.find('\n', at), outcome.out.size());
    lines.push_back(outcome.out.substr(at, end - at));
    at = end + 1;
  }
  if (!outcome.succeeded() || lines.size() != names.size() + 2)
    return bad_input(fmt::format("{} does not run", python), "run tools/setup, or set KERNELWRIGHT_PYTHON to one that has PyTorch");
  return known[key] = lines;
}

}  // namespace

Result<std::string> python_packages(const std::vector<std::string>& names) {
  KW_TRY(const auto lines, ask_python(names));
  for (std::size_t i = 0; i < names.size(); ++i)
    if (lines[i + 2].ends_with(" -"))
      return bad_input(fmt::format("this Python has no package '{}'", names[i]), "run tools/setup, which installs it into .venv");
  return fmt::format("{}", fmt::join(lines.begin() + 2, lines.end(), ", "));
}

Result<fs::path> python_package_folder(const std::string& name) {
  KW_TRY(const auto lines, ask_python({}));
  for (const fs::directory_entry& entry : entries_of(fs::path(lines[1]) / "lib")) {
    std::error_code error;
    const fs::path folder = entry.path() / "site-packages" / name;
    if (fs::is_directory(folder, error)) return folder;
  }
  return bad_input(fmt::format("the package '{}' is not below {}", name, lines[1]), "run tools/setup, which makes .venv");
}

Result<sandbox::Spec> recorder_box(const fs::path& folder, const CompileOptions& options, std::uint64_t tensor_bytes) {
  KW_TRY(const auto lines, ask_python({}));
  KW_TRY(const fs::path root, install_root());
  KW_TRY(const fs::path library, vgpu::find_cudart_library());
  std::error_code error;
  const fs::path base = fs::canonical(lines[0], error), home = fs::canonical(lines[1], error);
  const fs::path recorder = fs::canonical(root / "python", error), gpu_library = fs::canonical(library, error);
  if (error) return bad_input(fmt::format("{}: {}", (root / "python").string(), error.message()), "make build");
  sandbox::Spec box;
  fs::path program = home / "bin" / "python";
  if (!fs::exists(program)) program = home / "bin" / "python3";
  box.argv = {program.string(), "-B", "-m", "kernelwright_record"};
  box.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"},
                     {"LC_ALL", "C.UTF-8"},
                     {"HOME", folder.string()},
                     {"PYTHONPATH", recorder.string()},
                     {"PYTHONSAFEPATH", "1"},
                     {"PYTHONNOUSERSITE", "1"},
                     {"OMP_NUM_THREADS", "1"},
                     {"CUDA_VISIBLE_DEVICES", ""},
                     {"KERNELWRIGHT_VGPU_LIBRARY", gpu_library.string()},
                     {"TRITON_CACHE_DIR", (folder / "triton").string()},
                     {"TILELANG_CACHE_DIR", (folder / "tilelang").string()}};
  for (const char* system : {"/usr", "/lib", "/lib64", "/bin"})
    if (fs::exists(system)) box.read_only.push_back({system, ""});
  for (const fs::path& shown : {base, home, recorder, gpu_library})
    if (!shown.string().starts_with("/usr/")) box.read_only.push_back({shown.string(), ""});
  if (options.gpu.ends_with(".json")) box.read_only.push_back({fs::absolute(options.gpu).string(), ""});
  box.read_write.push_back({folder.string(), ""});
  box.folder = folder.string();
  box.dev_null = true;
  options.bound(box.limits);
  box.limits.memory_bytes = kRecorderMemory + kCopies * tensor_bytes;
  box.limits.file_bytes = 512 << 20;
  box.limits.processes = 64;
  return box;
}

}  // namespace kw
