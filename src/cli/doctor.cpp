#include "cli/commands.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/files.h"
#include "base/subprocess.h"
#include "dsl/cpp.h"
#include "dsl/opencl.h"
#include "llm/local_model.h"
#include "machine/machine_cache.h"
#include "problem/oracle_client.h"
#include "problem/problem_source.h"
#include "problem/torch_products.h"
#include "report/numbers.h"
#include "sandbox/sandbox.h"
#include "sandbox/seccomp_filter.h"
#include "search/gpu_place.h"

namespace kw {
namespace {

struct LookedFor {
  std::string what;
  bool present = false;
  bool needed = false;  // for the C++ path
  std::string detail;
  std::string feature;  // what it is for
  std::string remedy;   // the command that gets it
};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

LookedFor program(const std::string& what, const std::vector<std::string>& version_command, const std::string& feature,
                  const std::string& remedy) {
  LookedFor finding{what, false, false, "", feature, remedy};
  if (find_program(version_command.front()).empty()) return finding;
  auto outcome = run_command({version_command, {}, "", std::chrono::seconds(10), 4096});
  finding.present = outcome.ok();
  if (outcome) {
    // nvcc says its version last, most say it first.
    const std::string text = outcome->out.empty() ? outcome->err : outcome->out;
    const std::size_t release = text.find("release ");
    finding.detail = release == std::string::npos ? first_line(text) : text.substr(release, text.find(',', release) - release);
  }
  return finding;
}

LookedFor python_package(const std::string& what, const std::string& module, const std::string& feature,
                         const std::string& remedy) {
  LookedFor finding{what, false, false, "", feature, remedy};
  auto python = oracle_python();
  if (!python) return finding;
  const std::string script = fmt::format("import importlib.metadata as m; print(m.version('{}'))", module);
  auto outcome = run_command({{*python, "-c", script}, {}, "", std::chrono::seconds(30), 4096});
  finding.present = outcome && outcome->succeeded();
  if (finding.present) finding.detail = first_line(outcome->out);
  return finding;
}

LookedFor compiler() {
  LookedFor finding{"C++ compiler", false, true, "", "C++ kernels", "apt-get install g++"};
  if (auto version = cpp_compiler_version()) {
    finding.present = true;
    finding.detail = *version;
  }
  return finding;
}

LookedFor opencl_device() {
  LookedFor finding{"OpenCL",
                    false,
                    false,
                    "",
                    "OpenCL C kernels",
                    "apt-get install ocl-icd-libopencl1 pocl-opencl-icd opencl-headers, then make build"};
  auto version = opencl_compiler_version();
  finding.present = version.ok();
  finding.detail = version ? *version : version.error().message;
  if (!version && !version.error().hint.empty()) finding.remedy = version.error().hint;
  return finding;
}

LookedFor sandbox_mode(sandbox::Mode mode, const std::string& remedy) {
  LookedFor finding{std::string(sandbox::name_of(mode)), false, false, "", "a sandbox for kernels", remedy};
  auto status = sandbox::try_mode(mode);
  finding.present = status.ok();
  finding.detail = status ? "works here" : status.error().message;
  return finding;
}

LookedFor call_filter() {
  LookedFor finding{"seccomp",
                    false,
                    true,
                    "",
                    "a filter of system calls",
                    "a Linux kernel with CONFIG_SECCOMP_FILTER, outside of containers that forbid it"};
  auto filters = sandbox::RunnerFilters::prepare({});
  finding.present = filters.ok();
  finding.detail = filters ? "works here" : filters.error().message;
  return finding;
}

LookedFor torch() {
  LookedFor finding = python_package("PyTorch", "torch", "references and baselines", "tools/setup");
  finding.needed = true;
  return finding;
}

// Each floating type's product, convolution and attention, in a process that may die of them.
LookedFor products(bool anew) {
  LookedFor finding{"PyTorch's types",
                    false,
                    false,
                    "",
                    "problems in bfloat16, float16",
                    fmt::format("a PyTorch for this processor, or export {}=AVX2", kOneDnnVariable)};
  const auto tried = torch_products(anew);
  if (!tried) {
    finding.detail = tried.error().message;
    finding.remedy = tried.error().hint;
    return finding;
  }
  finding.present = tried->running.size() == kTorchTypes;
  finding.detail = fmt::format("{} run", tried->running.empty() ? "none" : fmt::format("{}", fmt::join(tried->running, ", ")));
  if (const std::string why = why_onednn_is_held(*tried); !why.empty())
    finding.detail += "; " + why;
  else if (!finding.present)
    finding.detail += fmt::format("; PyTorch dies of {}", tried->died_of);
  return finding;
}

LookedFor gpu() {
  LookedFor finding{
      "NVIDIA GPU", false, false, "", "timing CUDA kernels", "none can be installed; kernels for it are not timed here"};
  const vgpu::PresentGpus& present = vgpu::present_gpus();
  finding.detail = present.why_none;
  if (present.all.empty()) return finding;
  const auto place = gpu_place("", "cuda-c");
  finding.present = place && place->device;
  std::vector<std::string> names;
  for (const auto& each : present.all) names.push_back(fmt::format("{} (sm_{})", each.name, each.architecture()));
  finding.detail = finding.present ? fmt::format("{}", fmt::join(names, ", ")) : place ? place->note : place.error().message;
  finding.remedy = "install a PyTorch with CUDA into .venv";
  return finding;
}

LookedFor model() {
  LookedFor finding{"language model",
                    false,
                    false,
                    "",
                    "model agents",
                    "kernelwright model fetch (local, 1.1 GB), or export OPENAI_API_KEY=... or ANTHROPIC_API_KEY=..."};
  if (const auto local = llm::local_parts(); local && local->fetched()) {
    finding.present = true;
    finding.detail = fmt::format("{} is fetched (--model local)", local->name);
  }
  for (const char* name : {"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "KERNELWRIGHT_BASE_URL"})
    if (const char* value = std::getenv(name); value && *value) {
      finding.present = true;
      finding.detail = fmt::format("{} is set", name);
    }
  return finding;
}

std::string ceilings_text(const Machine& machine) {
  std::string text = fmt::format("{}: {} core{}, L1 {}, L2 {}, L3 {}, {} of memory\n", machine.cpu_model, machine.cores,
                                 machine.cores == 1 ? "" : "s", human_bytes(machine.l1d_bytes), human_bytes(machine.l2_bytes),
                                 human_bytes(machine.l3_bytes), human_bytes(machine.memory_bytes));
  text += fmt::format("  instruction sets: {}\n", fmt::join(machine.isas, " "));
  for (const auto& peak : machine.peaks)
    text += fmt::format("  {:<8}{:>2} thread{}  {:>8.1f} GFLOP/s\n", peak.isa, peak.threads, peak.threads == 1 ? " " : "s",
                        peak.gflops);
  text += fmt::format("  bandwidth, {} threads, GB/s    read   write    copy   triad\n", machine.cores);
  std::vector<double> sizes;
  for (const auto& point : machine.bandwidth)
    if (point.threads == machine.cores &&
        (sizes.empty() || std::find(sizes.begin(), sizes.end(), point.working_set_bytes) == sizes.end()))
      sizes.push_back(point.working_set_bytes);
  for (const double size : sizes) {
    text += fmt::format("  {:>24}", human_bytes(size));
    for (const char* pattern : {"read", "write", "copy", "triad"})
      for (const auto& point : machine.bandwidth)
        if (point.threads == machine.cores && point.working_set_bytes == size && point.pattern == pattern)
          text += fmt::format("{:>8.1f}", point.gbytes_per_second);
    text += "\n";
  }
  text += fmt::format("  an empty OpenMP region takes {}; measured {}\n", human_seconds(machine.openmp_region_seconds),
                      machine.measured_at);
  return text;
}

}  // namespace

Result<int> run_doctor(const DoctorOptions& options, Output& output) {
  std::vector<LookedFor> findings;
  const auto look = [&](const char* what, LookedFor finding) {
    output.progress(fmt::format("looking for {}", what));
    findings.push_back(std::move(finding));
  };
  look("the compiler", compiler());
  look("PyTorch", torch());
  if (findings.back().present) look("what PyTorch runs", products(options.refresh));
  look("bubblewrap", sandbox_mode(sandbox::Mode::bubblewrap, "apt-get install bubblewrap"));
  look("landlock", sandbox_mode(sandbox::Mode::landlock, "a Linux kernel from 5.13 on with Landlock enabled"));
  look("seccomp", call_filter());
  look("addr2line", program("addr2line", {"addr2line", "--version"}, "line numbers of crashes", "apt-get install binutils"));
  look("OpenCL", opencl_device());
  look("nvcc", program("nvcc", {"nvcc", "--version"}, "compiling CUDA kernels", "install the CUDA toolkit"));
  look("a GPU", gpu());
  look("Triton", python_package("Triton", "triton", "Triton kernels", ".venv/bin/pip install triton"));
  look("TileLang", python_package("TileLang", "tilelang", "TileLang kernels", "tools/setup"));
  look("CuTe", python_package("CuTe headers", "nvidia-cutlass", "CuTe kernels", ".venv/bin/pip install nvidia-cutlass"));
  look("a model", model());

  MachineRequest request;
  request.refresh = options.refresh;
  request.progress = [&](std::string_view text) { output.progress(text); };
  KW_TRY(const Machine machine, this_machine(request));

  const bool boxed = sandbox::choose_mode(false).ok();
  bool ready = boxed;
  std::string text;
  Json rows = Json::array();
  for (const auto& finding : findings) {
    if (finding.needed && !finding.present) ready = false;
    const std::string mark = finding.present  ? output.paint().good("yes")
                             : finding.needed ? output.paint().bad("NO ")
                                              : output.paint().faint("no ");
    text += fmt::format("{} {:<15} {:<28} {}\n", mark, finding.what, finding.feature, finding.detail);
    if (!finding.present) text += fmt::format("    {:<15} get it: {}\n", "", finding.remedy);
    rows.push_back({{"what", finding.what},
                    {"present", finding.present},
                    {"needed", finding.needed},
                    {"detail", finding.detail},
                    {"feature", finding.feature},
                    {"remedy", finding.present ? "" : finding.remedy}});
  }
  text += "\n" + ceilings_text(machine) + "\n";
  text += ready ? output.paint().good("C++ kernels can be verified and measured here.") + "\n"
                : output.paint().bad("C++ kernels cannot be evaluated here yet: see the lines marked NO") +
                      (boxed ? "\n" : ", and no sandbox works\n");
  output.result(text,
                {{"ready", ready}, {"findings", rows}, {"machine", machine}, {"archive", (data_home() / "archive.db").string()}});
  return ready ? kPassed : kNotPassed;
}

}  // namespace kw
