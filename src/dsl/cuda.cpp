#include "dsl/cuda.h"

#include <fmt/format.h>

#include "base/subprocess.h"
#include "dsl/compiler_errors.h"
#include "dsl/cpp_screen.h"
#include "dsl/cpp_text.h"
#include "dsl/nvcc_box.h"
#include "dsl/problem_header.h"
#include "vgpu/toolkit.h"

namespace kw {
namespace {

Result<vgpu::GpuSheet> sheet_of(const CompileOptions& options) {
  return vgpu::load_gpu_sheet(options.gpu.empty() ? vgpu::kDefaultGpu : std::string_view(options.gpu));
}

// Everything that decides what code comes out, but for folders.
std::vector<std::string> code_flags(const vgpu::GpuSheet& sheet, const CompileOptions& options, bool cute) {
  std::vector<std::string> flags{"-std=c++17", "-O3"};
  const int also_for = options.device ? options.device->architecture() : 0;
  for (std::string& option : vgpu::device_code_options(sheet, also_for)) flags.push_back(std::move(option));
  if (cute) flags.emplace_back("--expt-relaxed-constexpr");
  return flags;
}

Result<std::vector<std::string>> flags_of(const CompileOptions& options, bool cute) {
  KW_TRY(const vgpu::GpuSheet sheet, sheet_of(options));
  auto flags = code_flags(sheet, options, cute);
  flags.push_back("(for " + sheet.id + (options.device ? " and " + options.device->name : "") + ")");
  return flags;
}

Result<CompileOutcome> compile(const ProblemDescription& problem, const KernelSource& source, const fs::path& folder,
                               const CompileOptions& options, bool cute) {
  if (auto objection = screen_includes(source)) return CompileOutcome::failed(Verdict::forbidden, *objection);
  KW_CHECK(write_file_atomically(folder / "problem.h", problem_header(problem, EntryPoint::cuda)));
  CudaBuild build;
  build.text = source.text;
  build.file = source.file;
  build.has_prepare = mentions_identifier(source.text, "kw_prepare");
  build.declaration = kernel_declaration(problem, build.has_prepare, EntryPoint::cuda);
  if (cute) {
    KW_TRY(const fs::path headers, vgpu::find_cutlass_headers());
    build.headers = {headers};
    build.options = {"--expt-relaxed-constexpr"};
  }
  for (const auto& [name, value] : source.knobs) {
    if (!is_identifier(name)) return bad_input(fmt::format("'{}' is not the name of a knob", name), "write --knob NAME=VALUE");
    build.options.push_back(fmt::format("-D{}={}", name, value));
  }
  if (build.has_prepare) build.options.emplace_back("-DKW_HAS_PREPARE");
  for (const char* option : {"-DKW_RUNNER_ENTRY", "-include", "problem.h", "-I."}) build.options.emplace_back(option);
  return build_cuda_object(build, folder, options);
}

// The machine code that was compiled with the rest, in an object for the machine's own GPU: the same kernels, another runtime.
Result<std::string> link_for_device(const fs::path& folder, const CompileOptions& options) {
  KW_TRY(NvccBox nvcc, NvccBox::make(folder, options));
  KW_TRY(const std::string runtime, nvcc.show(options.device->runtime));
  // nvcc knows a library by the end of its name, which libcudart.so.13 does not have.
  std::error_code error;
  fs::remove(folder / "runtime.so", error);
  fs::create_symlink(runtime, folder / "runtime.so", error);
  if (error) return internal_error(fmt::format("{}: {}", (folder / "runtime.so").string(), error.message()));
  nvcc.box.argv.insert(nvcc.box.argv.end(),
                       {"-cudart", "none", "-shared", "-Xlinker", "-z,now,-z,defs", "kernel.o", "-o", "device.so", "runtime.so"});
  KW_TRY(const sandbox::Outcome outcome, sandbox::run(nvcc.box, options.mode));
  if (!outcome.succeeded())
    return bad_input(fmt::format("a kernel cannot be linked with {}: {}", runtime, (outcome.out + outcome.err).substr(0, 300)),
                     "nvcc and libcudart.so have to be of one CUDA toolkit: see KERNELWRIGHT_NVCC and KERNELWRIGHT_CUDART");
  return (folder / "device.so").string();
}

}  // namespace

Result<CompileOutcome> build_cuda_object(const CudaBuild& build, const fs::path& folder, const CompileOptions& options) {
  KW_TRY(const vgpu::GpuSheet sheet, sheet_of(options));
  KW_TRY(const fs::path library, vgpu::find_cudart_library());
  KW_TRY(NvccBox nvcc, NvccBox::make(folder, options));
  KW_CHECK(write_file_atomically(folder / "kernel.cu", build.text));

  CompiledKernel kernel;
  kernel.has_prepare = build.has_prepare;
  kernel.object = (folder / "kernel.so").string();
  auto& argv = nvcc.box.argv;
  for (std::string& flag : code_flags(sheet, options, false)) argv.push_back(std::move(flag));
  for (const fs::path& headers : build.headers) {
    KW_TRY(const std::string shown, nvcc.show(headers));
    argv.insert(argv.end(), {"-isystem", shown});
  }
  argv.insert(argv.end(), build.options.begin(), build.options.end());
  KW_TRY(const std::string shown_library, nvcc.show(library));
  argv.insert(argv.end(), {"-w", "-Xcompiler", "-w,-fPIC,-fvisibility=hidden,-fdiagnostics-color=never,-fno-diagnostics-show-caret",
                           "-MD", "-MF", "kernel.d", "--keep", "--keep-dir", ".", "-shared", "-Xlinker", "-z,now,-z,defs",
                           "kernel.cu", "-o", "kernel.so", shown_library});

  KW_TRY(const sandbox::Outcome outcome, sandbox::run(nvcc.box, options.mode));
  kernel.seconds = outcome.seconds;
  const std::string said = outcome.out + outcome.err;
  if (ran_out_of_time(outcome)) return compiler_out_of_time(options, "instantiate fewer templates");
  if (outcome.signal != 0 || outcome.memory_exceeded)
    return CompileOutcome::failed(Verdict::compile_failed,
                                  {"compile",
                                   "the compiler ran out of memory or crashed",
                                   "",
                                   {},
                                   "the kernel is too large for the compiler: fewer templates, less unrolling",
                                   ""});
  if (!outcome.succeeded())
    return CompileOutcome::failed(Verdict::compile_failed, digest_nvcc_errors(said, build.file, build.declaration));
  if (!fs::exists(folder / "kernel.d") || !fs::exists(kernel.object))
    return bad_input("nvcc said that it succeeded but wrote nothing", "set KERNELWRIGHT_NVCC to NVIDIA's compiler");
  KW_TRY(const std::string dependencies, read_file(folder / "kernel.d"));
  if (auto objection = screen_dependencies(dependencies, folder.string(), nvcc.shown))
    return CompileOutcome::failed(Verdict::forbidden, *objection);
  KW_TRY(const auto objection, screen_cuda_object(kernel.object));
  if (objection) return CompileOutcome::failed(Verdict::forbidden, *objection);
  GpuBuild gpu;
  gpu.gpu = options.gpu.empty() ? std::string(vgpu::kDefaultGpu) : options.gpu;
  gpu.library = library.string();
  gpu.facts = vgpu::facts_json(vgpu::parse_ptxas_output(said, fmt::format("sm_{}", vgpu::ptx_architecture(sheet)))).dump();
  gpu.ptx = (folder / "kernel.ptx").string();
  if (options.device) {
    KW_TRY(gpu.device_object, link_for_device(folder, options));
  }
  kernel.gpu = std::move(gpu);
  CompileOutcome compiled;
  compiled.verdict = Verdict::passed;
  compiled.kernel = kernel;
  return compiled;
}

Result<std::vector<std::string>> cuda_c_flags(const CompileOptions& options) { return flags_of(options, false); }
Result<std::vector<std::string>> cute_flags(const CompileOptions& options) { return flags_of(options, true); }

Result<std::string> cuda_compiler_version() {
  static std::map<std::string, std::string> known;  // per process: a compiler does not change under a run
  KW_TRY(const fs::path nvcc, vgpu::find_nvcc());
  if (const auto it = known.find(nvcc.string()); it != known.end()) return it->second;
  KW_TRY(const CommandOutcome outcome, run_command({{nvcc.string(), "--version"}, {}, "", std::chrono::seconds(20), 4096}));
  const std::size_t at = outcome.out.rfind(", V");
  if (!outcome.succeeded() || at == std::string::npos)
    return bad_input(fmt::format("{} --version failed", nvcc.string()), "set KERNELWRIGHT_NVCC to NVIDIA's compiler");
  return known[nvcc.string()] = "nvcc " + outcome.out.substr(at + 2, outcome.out.find('\n', at) - at - 2);
}

Result<CompileOutcome> compile_cuda_c(const ProblemDescription& problem, const KernelSource& source, const fs::path& folder,
                                      const CompileOptions& options) {
  return compile(problem, source, folder, options, false);
}
Result<CompileOutcome> compile_cute(const ProblemDescription& problem, const KernelSource& source, const fs::path& folder,
                                    const CompileOptions& options) {
  return compile(problem, source, folder, options, true);
}

}  // namespace kw
