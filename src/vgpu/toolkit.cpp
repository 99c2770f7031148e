#include "vgpu/toolkit.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/subprocess.h"

namespace kw::vgpu {
namespace {

// What nvcc of CUDA 13 still compiles for; the virtual GPU runs its PTX for older sheets too.
constexpr int kOldestArchitecture = 75;
constexpr std::size_t kMostMessages = 4000;

std::string variable_named(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? std::string() : std::string(value);
}

bool is_program(const fs::path& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  return !error && fs::is_regular_file(status) && (status.permissions() & fs::perms::owner_exec) != fs::perms::none;
}

// nvcc of the PyPI packages: .venv/lib/python3.x/site-packages/nvidia/cu13/bin/nvcc.
fs::path nvcc_in_environment() {
  const auto root = install_root();
  if (!root) return {};
  for (const auto& python : entries_of(*root / ".venv" / "lib"))
    for (const auto& package : entries_of(python.path() / "site-packages" / "nvidia"))
      if (fs::path nvcc = package.path() / "bin" / "nvcc"; is_program(nvcc)) return nvcc;
  return {};
}

// The number before `unit` in a line of ptxas's, e.g. 24 in "Used 24 registers" for " registers".
int number_before(std::string_view line, std::string_view unit) {
  const std::size_t end = line.find(unit);
  if (end == std::string_view::npos) return 0;
  std::size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  int number = 0;
  std::from_chars(line.data() + begin, line.data() + end, number);
  return number;
}

std::string_view between_quotes(std::string_view line, std::string_view after) {
  const std::size_t at = line.find(after);
  if (at == std::string_view::npos) return {};
  const std::size_t begin = at + after.size();
  const std::size_t end = line.find('\'', begin);
  return end == std::string_view::npos ? std::string_view() : line.substr(begin, end - begin);
}

template <typename Line>
void for_each_line(std::string_view text, Line&& each) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    each(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

bool is_ptxas_fact(std::string_view line) {
  return line.starts_with("ptxas info") || line.find("bytes stack frame") != std::string_view::npos;
}

}  // namespace

Result<fs::path> find_nvcc() {
  if (const std::string named = variable_named("KERNELWRIGHT_NVCC"); !named.empty()) {
    if (is_program(named)) return fs::path(named);
    return bad_input("KERNELWRIGHT_NVCC is '" + named + "', which is no program", "set it to the path of nvcc, or unset it");
  }
  if (const std::string found = find_program("nvcc"); !found.empty()) return fs::path(found);
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const std::string folder = variable_named(variable); !folder.empty())
      if (const fs::path nvcc = fs::path(folder) / "bin" / "nvcc"; is_program(nvcc)) return nvcc;
  if (const fs::path nvcc = "/usr/local/cuda/bin/nvcc"; is_program(nvcc)) return nvcc;
  if (const fs::path nvcc = nvcc_in_environment(); !nvcc.empty()) return nvcc;
  return bad_input("there is no nvcc here: CUDA sources cannot be compiled",
                   "install NVIDIA's CUDA toolkit 12.8 or newer (no GPU and no driver are needed: the packages cuda-nvcc and "
                   "cuda-cudart-dev are enough), then put its bin folder on PATH or set CUDA_HOME");
}

Result<fs::path> find_cudart_library() {
  const fs::path here = executable_folder();
  for (const fs::path& folder : {here, here.parent_path() / "lib"})
    if (std::error_code error; fs::exists(folder / "libkw_cudart.so", error)) return folder / "libkw_cudart.so";
  return internal_error("libkw_cudart.so is neither beside the program nor in the folder lib next to its folder", "make build");
}

Result<fs::path> find_cuda_runtime() {
  if (const std::string named = variable_named("KERNELWRIGHT_CUDART"); !named.empty()) {
    if (std::error_code error; fs::is_regular_file(named, error)) return fs::path(named);
    return bad_input("KERNELWRIGHT_CUDART is '" + named + "', which is no file", "set it to NVIDIA's libcudart.so, or unset it");
  }
  KW_TRY(const fs::path nvcc, find_nvcc());
  std::error_code error;
  const fs::path toolkit = fs::canonical(nvcc, error).parent_path().parent_path();
  std::vector<fs::path> found;
  for (const char* folder : {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"})
    for (const auto& file : entries_of(toolkit / folder))
      if (file.path().filename().string().starts_with("libcudart.so")) found.push_back(file.path());
  if (!found.empty()) return *std::min_element(found.begin(), found.end());  // libcudart.so before libcudart.so.13
  return bad_input("there is no libcudart.so in the lib folders of " + toolkit.string(),
                   "install the package cuda-cudart-dev of the same toolkit, or set KERNELWRIGHT_CUDART");
}

Result<fs::path> find_cutlass_headers() {
  const auto has_headers = [](const fs::path& folder) {
    std::error_code error;
    return fs::is_directory(folder / "cute", error);
  };
  if (const std::string named = variable_named("KERNELWRIGHT_CUTLASS"); !named.empty()) {
    if (has_headers(named)) return fs::path(named);
    return bad_input("KERNELWRIGHT_CUTLASS is '" + named + "', which has no folder cute",
                     "set it to the include folder of CUTLASS, or unset it");
  }
  if (const auto root = install_root())
    for (const auto& python : entries_of(*root / ".venv" / "lib"))
      if (const fs::path folder = python.path() / "site-packages" / "cutlass_library" / "source" / "include"; has_headers(folder))
        return folder;
  return bad_input("the headers of CuTe are not here",
                   "tools/setup installs them (the package nvidia-cutlass), or set KERNELWRIGHT_CUTLASS");
}

Json facts_json(const std::map<std::string, PtxasFacts>& facts) {
  Json json = Json::object();
  for (const auto& [kernel, entry] : facts)
    json[kernel] = {{"registers", entry.registers},
                    {"spill_bytes", entry.spill_store_bytes + entry.spill_load_bytes},
                    {"stack_bytes", entry.stack_bytes},
                    {"shared_bytes", entry.shared_bytes}};
  return json;
}

std::map<std::string, PtxasFacts> parse_ptxas_output(std::string_view text, std::string_view architecture) {
  std::map<std::string, PtxasFacts> facts;
  std::string kernel;
  for_each_line(text, [&](std::string_view line) {
    if (const std::string_view name = between_quotes(line, "Compiling entry function '"); !name.empty()) {
      const bool wanted = architecture.empty() || between_quotes(line, "' for '") == architecture;
      kernel = wanted ? name : std::string_view();
    }
    if (kernel.empty()) return;
    PtxasFacts& entry = facts[kernel];
    if (line.find("bytes stack frame") != std::string_view::npos) {
      entry.stack_bytes = number_before(line, " bytes stack frame");
      entry.spill_store_bytes = number_before(line, " bytes spill stores");
      entry.spill_load_bytes = number_before(line, " bytes spill loads");
    } else if (line.find("Used ") != std::string_view::npos) {
      entry.registers = number_before(line, " registers");
      entry.shared_bytes = number_before(line, " bytes smem");
    }
  });
  return facts;
}

int ptx_architecture(const GpuSheet& sheet) { return std::max(sheet.cc_major * 10 + sheet.cc_minor, kOldestArchitecture); }

std::vector<std::string> device_code_options(const GpuSheet& sheet, int also_for) {
  const std::string arch = std::to_string(ptx_architecture(sheet));
  const std::string more = also_for > ptx_architecture(sheet) ? ",sm_" + std::to_string(also_for) : "";
  // Machine code for the sheet is made only for ptxas's facts.
  return {"-gencode",     "arch=compute_" + arch + ",code=[compute_" + arch + ",sm_" + arch + more + "]",
          "-Xptxas",      "-v",
          "-no-compress", "-lineinfo",
          "-cudart",      "none"};
}

Result<CompiledProgram> compile_cuda_program(const CompileRequest& request, const GpuSheet& sheet) {
  std::error_code missing;
  if (!fs::is_regular_file(request.source, missing))
    return bad_input("there is no file " + request.source.string(), "name a CUDA source, a .cu file");
  KW_TRY(const fs::path nvcc, find_nvcc());
  KW_TRY(const fs::path library, find_cudart_library());
  Command command;
  command.argv = {nvcc.string(), "-o", request.program.string(), "-x", "cu"};
  for (std::string& option : device_code_options(sheet)) command.argv.push_back(std::move(option));
  command.argv.insert(command.argv.end(), request.options.begin(), request.options.end());
  const std::string folder = library.parent_path().string();
  for (const std::string& word : {request.source.string(), "-L" + folder, std::string("-lkw_cudart"), "-Xlinker=-rpath=" + folder})
    command.argv.push_back(word);
  command.deadline = std::chrono::milliseconds(static_cast<std::int64_t>(request.deadline_seconds * 1000));
  KW_TRY(const CommandOutcome outcome, run_command(command));
  CompiledProgram program;
  const std::string said = outcome.out + outcome.err;
  program.facts = parse_ptxas_output(said);
  for_each_line(said, [&](std::string_view line) {
    if (!is_ptxas_fact(line) && program.warnings.size() < kMostMessages) program.warnings += std::string(line) + "\n";
  });
  if (outcome.timed_out)
    return bad_input(
        request.source.string() + ": nvcc did not end within " + std::to_string(static_cast<int>(request.deadline_seconds)) + " s",
        "compile fewer template instances");
  if (!outcome.succeeded())
    return bad_input(request.source.string() + " does not compile:\n" + program.warnings,
                     "correct the source, or add nvcc's options with --nvcc");
  return program;
}

}  // namespace kw::vgpu
