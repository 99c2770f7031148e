#include "dsl/python_kernel.h"

#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dsl/cpp.h"
#include "dsl/cpp_screen.h"
#include "dsl/cuda.h"
#include "dsl/recorder_box.h"
#include "dsl/recording.h"
#include "vgpu/toolkit.h"

namespace kw {
namespace {

std::string gpu_of(const CompileOptions& options) { return options.gpu.empty() ? std::string(vgpu::kDefaultGpu) : options.gpu; }

Result<Json> spec_of(const ProblemDescription& problem, const KernelSource& source, const CompileOptions& options,
                     std::string_view dsl) {
  KW_TRY(const vgpu::GpuSheet sheet, vgpu::load_gpu_sheet(gpu_of(options)));
  Json arguments = Json::array();
  for (const TensorSpec* each : problem.arguments()) {
    arguments.push_back({{"name", each->name},
                         {"dtype", torch_name(each->dtype)},
                         {"kind", each->kind == TensorKind::scalar ? "scalar" : "tensor"},
                         {"shape", each->shape},
                         {"strides", each->strides},
                         {"span", each->span},
                         {"value", each->value}});
  }
  const std::string gpu = gpu_of(options);
  return Json{{"dsl", dsl},
              {"capability", sheet.cc_major * 10 + sheet.cc_minor},
              {"gpu", gpu.ends_with(".json") ? fs::absolute(gpu).string() : gpu},
              {"knobs", source.knobs},
              {"declaration", launch_declaration(problem)},
              {"arguments", arguments}};
}

Diagnosis diagnosis_of(const RecordingRefusal& refusal, const std::string& file) {
  const std::string place = refusal.line > 0 ? fmt::format("{}:{}", file, refusal.line) : "";
  return {refusal.verdict == Verdict::forbidden ? "screen" : "compile", refusal.message, place, {}, refusal.hint, ""};
}

// What the compile step recorded; or why it could not.
struct Recorded {
  std::optional<Recording> recording;
  CompileOutcome failure;
  double seconds = 0;
};

Result<Recorded> record(const ProblemDescription& problem, const KernelSource& source, const fs::path& folder,
                        const CompileOptions& options, std::string_view dsl) {
  KW_CHECK(write_file_atomically(folder / "kernel.py", source.text));
  KW_TRY(const Json spec, spec_of(problem, source, options, dsl));
  KW_CHECK(write_file_atomically(folder / "spec.json", spec.dump()));
  std::uint64_t bytes = 0;
  for (const TensorSpec* each : problem.arguments()) bytes += each->span_bytes();
  KW_TRY(sandbox::Spec box, recorder_box(folder, options, bytes));
  box.argv.insert(box.argv.end(), {"spec.json", "recording.json"});
  KW_TRY(const sandbox::Outcome outcome, sandbox::run(box, options.mode));
  Recorded recorded;
  recorded.seconds = outcome.seconds;
  const auto failed = [&](Verdict verdict, std::string summary, std::string hint) {
    recorded.failure = CompileOutcome::failed(verdict, {"compile", std::move(summary), "", {}, std::move(hint), ""});
    return recorded;
  };
  if (outcome.timed_out)
    return failed(Verdict::timed_out,
                  fmt::format("launch() did not come back within {:.3g} s of processor time",
                              std::chrono::duration<double>(options.deadline).count()),
                  "autotune over fewer configurations, or give more time with --compile-timeout");
  if (!fs::exists(folder / "recording.json")) {
    if (outcome.memory_exceeded) return failed(Verdict::out_of_memory, "launch() ran out of memory", "allocate less in launch()");
    const std::string said = outcome.err.substr(outcome.err.size() - std::min<std::size_t>(outcome.err.size(), 400));
    return failed(Verdict::compile_failed, "the module ended its process: " + said, "launch() returns like any function");
  }
  KW_TRY(const std::string text, read_file(folder / "recording.json"));
  auto read = read_recording(text, problem);
  if (!read) return failed(Verdict::forbidden, read.error().message, read.error().hint);
  if (const auto* refusal = std::get_if<RecordingRefusal>(&*read)) {
    recorded.failure = CompileOutcome::failed(refusal->verdict, diagnosis_of(*refusal, source.file));
    return recorded;
  }
  recorded.recording = std::get<Recording>(std::move(*read));
  return recorded;
}

// PTX in the container that nvcc would put it in (src/cudart/fatbin.cpp reads it).
std::string container_of(const std::string& ptx, int arch) {
  constexpr std::size_t kImageHeader = 64;
  std::string padded = ptx;
  padded.append(8 - padded.size() % 8, '\0');
  std::string bytes(16 + kImageHeader, '\0');
  const auto put = [&](std::size_t at, auto value) { std::memcpy(bytes.data() + at, &value, sizeof value); };
  put(0, std::uint32_t{0xba55ed50});
  put(4, std::uint16_t{1});
  put(6, std::uint16_t{16});
  put(8, std::uint64_t{kImageHeader + padded.size()});
  put(16, std::uint16_t{1});
  put(20, static_cast<std::uint32_t>(kImageHeader));
  put(24, std::uint64_t{padded.size()});
  put(16 + 28, static_cast<std::uint32_t>(arch));
  return bytes + padded;
}

constexpr std::string_view kRuntime = R"(// Generated: what launch() did, again.
#include <cstddef>
namespace {
struct Dim3 { unsigned x, y, z; };
constexpr int kw_dynamic_shared = 8;
}
extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*);
int cudaLaunchKernel(const void*, Dim3, Dim3, void**, std::size_t, void*);
int cudaLaunchCooperativeKernel(const void*, Dim3, Dim3, void**, std::size_t, void*);
int cudaFuncSetAttribute(const void*, int, int);
int cudaMalloc(void**, std::size_t);
int cudaMemset(void*, int, std::size_t);
int cudaFree(void*);
}
)";

// Host code for kernels in PTX: registers each module as nvcc's startup code would.
std::string host_text(const Recording& recording) {
  std::string text(kRuntime), registered;
  std::vector<std::string> handles;
  for (std::size_t i = 0; i < recording.modules.size(); ++i) {
    text += fmt::format(
        "asm(\".section .nv_fatbin,\\\"a\\\"\\n.balign 8\\nkw_code{0}:\\n.incbin \\\"module{0}.fatbin\\\"\\n.text\\n\");\n"
        "extern \"C\" __attribute__((visibility(\"hidden\"))) const char kw_code{0}[];\n"
        "static char kw_handle{0};\n"
        "static struct {{ int magic, version; const void* data; void* more; }} kw_wrapper{0} = {{0x466243b1, 1, kw_code{0}, "
        "nullptr}};\n",
        i);
    registered += fmt::format(
        "  __cudaRegisterFunction(__cudaRegisterFatBinary(&kw_wrapper{0}), &kw_handle{0}, &kw_handle{0}, \"{1}\", -1, nullptr, "
        "nullptr, nullptr, nullptr, nullptr);\n",
        i, recording.modules[i].kernel);
    handles.push_back(fmt::format("&kw_handle{}", i));
  }
  return text + "__attribute__((constructor)) static void kw_register() {\n" + registered + "}\n" +
         kw_call_text(recording, handles);
}

Result<CompileOutcome> build_from_ptx(const Recording& recording, double seconds, const fs::path& folder,
                                      const CompileOptions& options) {
  KW_TRY(const vgpu::GpuSheet sheet, vgpu::load_gpu_sheet(gpu_of(options)));
  KW_TRY(const fs::path library, vgpu::find_cudart_library());
  KW_TRY(const std::string compiler, cpp_compiler());
  std::string all;
  for (std::size_t i = 0; i < recording.modules.size(); ++i) {
    KW_TRY(const std::string ptx, read_file(folder / recording.modules[i].file));
    KW_CHECK(
        write_file_atomically(folder / fmt::format("module{}.fatbin", i), container_of(ptx, sheet.cc_major * 10 + sheet.cc_minor)));
    all += ptx + "\n";
  }
  KW_CHECK(write_file_atomically(folder / "kernel.ptx", all));
  KW_CHECK(write_file_atomically(folder / "host.cpp", host_text(recording)));
  CompiledKernel kernel;
  kernel.object = (folder / "kernel.so").string();
  std::error_code error;
  const std::string shown = fs::canonical(library, error).string();
  sandbox::Spec box = cpp_compiler_box(compiler, folder, options);
  box.read_only.push_back({shown, ""});
  box.argv.insert(box.argv.end(), {"-std=c++20", "-O1", "-w", "-fPIC", "-fvisibility=hidden", "-shared", "-Wl,-z,now,-z,defs",
                                   "host.cpp", "-o", "kernel.so", shown});
  KW_TRY(const sandbox::Outcome outcome, sandbox::run(box, options.mode));
  if (!outcome.succeeded())
    return internal_error("the host code of a recording does not compile: " + outcome.err.substr(0, 500),
                          "this is a mistake of ours");
  kernel.seconds = seconds + outcome.seconds;
  KW_TRY(const auto objection, screen_cuda_object(kernel.object));
  if (objection) return CompileOutcome::failed(Verdict::forbidden, *objection);
  kernel.gpu = GpuBuild{gpu_of(options), library.string(), recording.facts.dump(), (folder / "kernel.ptx").string()};
  CompileOutcome compiled;
  compiled.verdict = Verdict::passed;
  compiled.kernel = kernel;
  return compiled;
}

}  // namespace

std::string launch_declaration(const ProblemDescription& problem) {
  std::vector<std::string> names;
  for (const TensorSpec* each : problem.arguments()) names.push_back(each->c_name);
  return fmt::format("def launch({}):", fmt::join(names, ", "));
}

Result<std::string> triton_version() { return python_packages({"triton", "torch"}); }

Result<std::vector<std::string>> triton_flags(const CompileOptions& options) {
  KW_TRY(const vgpu::GpuSheet sheet, vgpu::load_gpu_sheet(gpu_of(options)));
  return std::vector<std::string>{fmt::format("(for {})", sheet.id)};
}

Result<CompileOutcome> compile_triton(const ProblemDescription& problem, const KernelSource& source, const fs::path& folder,
                                      const CompileOptions& options) {
  KW_TRY(const std::string version, triton_version());
  KW_TRY(const Recorded recorded, record(problem, source, folder, options, "triton"));
  if (!recorded.recording) return recorded.failure;
  return build_from_ptx(*recorded.recording, recorded.seconds, folder, options);
}

Result<std::string> tilelang_version() {
  KW_TRY(const std::string packages, python_packages({"tilelang", "torch"}));
  KW_TRY(const std::string nvcc, cuda_compiler_version());
  return packages + ", " + nvcc;
}

Result<std::vector<std::string>> tilelang_flags(const CompileOptions& options) { return triton_flags(options); }

Result<CompileOutcome> compile_tilelang(const ProblemDescription& problem, const KernelSource& source, const fs::path& folder,
                                        const CompileOptions& options) {
  KW_TRY(const std::string version, tilelang_version());
  KW_TRY(const fs::path package, python_package_folder("tilelang"));
  KW_TRY(const Recorded recorded, record(problem, source, folder, options, "tilelang"));
  if (!recorded.recording) return recorded.failure;
  CudaBuild build;
  std::vector<std::string> kernels;
  for (const RecordedModule& module : recorded.recording->modules) {
    KW_TRY(const std::string text, read_file(folder / module.file));
    build.text += text + "\n";
    kernels.push_back(fmt::format("reinterpret_cast<const void*>(&{})", module.kernel));
  }
  build.text += "constexpr auto kw_dynamic_shared = cudaFuncAttributeMaxDynamicSharedMemorySize;\n" +
                kw_call_text(*recorded.recording, kernels);
  build.file = source.file + " as TileLang lowers it";
  build.headers = {package / "src", package / "3rdparty" / "cutlass" / "include"};
  build.options = {"--expt-relaxed-constexpr"};
  KW_TRY(CompileOutcome compiled, build_cuda_object(build, folder, options));
  if (compiled.kernel) compiled.kernel->seconds += recorded.seconds;
  return compiled;
}

}  // namespace kw
