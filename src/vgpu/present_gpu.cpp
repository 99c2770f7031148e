#include "vgpu/present_gpu.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "base/json.h"
#include "base/subprocess.h"
#include "vgpu/toolkit.h"

namespace kw::vgpu {
namespace {

constexpr std::uint64_t kUnknownFlush = 256 << 20;
constexpr auto kPatience = std::chrono::seconds(30);

// "NVIDIA GeForce RTX 4090" -> nvidia, geforce, rtx, 4090.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

std::string joined(std::string_view name) {
  std::string all;
  for (const std::string& word : words_of(name)) all += word;
  return all;
}

// Whole words: an L40S is no L4.
bool has_words(std::string_view name, std::string_view wanted) {
  const std::vector<std::string> words = words_of(name);
  const std::string target = joined(wanted);
  for (std::size_t begin = 0; begin < words.size(); ++begin) {
    std::string together;
    for (std::size_t i = begin; i < words.size() && together.size() < target.size(); ++i) together += words[i];
    if (!target.empty() && together == target) return true;
  }
  return false;
}

PresentGpu gpu_of(const Json& told, const fs::path& runtime) {
  PresentGpu gpu;
  gpu.runtime = runtime.string();
  told.at("index").get_to(gpu.index);
  told.at("name").get_to(gpu.name);
  told.at("cc_major").get_to(gpu.cc_major);
  told.at("cc_minor").get_to(gpu.cc_minor);
  told.at("sm_count").get_to(gpu.sm_count);
  gpu.clock_mhz = told.at("clock_khz").get<double>() / 1e3;
  // Two transfers a clock, of the width of the bus.
  gpu.memory_gb_per_s = 2 * told.at("memory_clock_khz").get<double>() * 1e3 * told.at("memory_bus_bits").get<double>() / 8 / 1e9;
  told.at("l2_bytes").get_to(gpu.l2_bytes);
  return gpu;
}

bool has_device_nodes() {
  std::error_code error;
  return fs::exists("/dev/nvidiactl", error) || fs::exists("/dev/dxg", error);
}

PresentGpus look_for_gpus() {
  const char* named = std::getenv("KERNELWRIGHT_CUDART");  // NOLINT(concurrency-mt-unsafe)
  if ((named == nullptr || *named == '\0') && !has_device_nodes()) return {{}, "there is no NVIDIA device here"};
  const auto runtime = find_cuda_runtime();
  if (!runtime) return {{}, runtime.error().message};
  return gpus_seen_by(*runtime);
}

}  // namespace

std::uint64_t PresentGpu::flush_bytes() const { return l2_bytes > 0 ? 2 * l2_bytes : kUnknownFlush; }

PresentGpus gpus_seen_by(const fs::path& runtime) {
  const auto asked =
      run_command({{(executable_folder() / "kw-runner").string(), "--gpus", runtime.string()}, {}, "", kPatience, 1 << 16});
  if (!asked) return {{}, asked.error().message};
  if (asked->timed_out) return {{}, "the CUDA runtime does not answer"};
  if (!asked->succeeded()) return {{}, asked->err.empty() ? "the CUDA runtime crashed" : asked->err};
  PresentGpus found;
  const auto told = parse_json(asked->out, "the runner's list of GPUs");
  if (!told) return {{}, told.error().message};
  const auto all = read_fields("the runner's list of GPUs", [&] {
    std::vector<PresentGpu> gpus;
    for (const Json& each : *told) gpus.push_back(gpu_of(each, runtime));
    return gpus;
  });
  if (!all) return {{}, all.error().message};
  for (const PresentGpu& gpu : *all) {
    if (judging_sheet(gpu))
      found.all.push_back(gpu);
    else
      found.why_none = gpu.name + " is older than what nvcc compiles for";
  }
  if (found.all.empty() && found.why_none.empty()) found.why_none = "the CUDA runtime sees no GPU";
  return found;
}

const PresentGpus& present_gpus() {
  static const PresentGpus known = look_for_gpus();
  return known;
}

bool goes_by(const PresentGpu& gpu, std::string_view word) { return has_words(gpu.name, word); }

Result<GpuSheet> judging_sheet(const PresentGpu& gpu) {
  std::optional<GpuSheet> best;
  for (const std::string& id : gpu_sheet_names()) {
    KW_TRY(GpuSheet sheet, load_gpu_sheet(id));
    if (ptx_architecture(sheet) > gpu.architecture()) continue;
    if (goes_by(gpu, id)) return sheet;
    if (!best || ptx_architecture(sheet) > ptx_architecture(*best)) best = std::move(sheet);
  }
  if (!best) return bad_input("there is no data sheet of an architecture that " + gpu.name + " runs");
  return std::move(*best);
}

GpuSheet with_own_figures(GpuSheet sheet, const PresentGpu& gpu) {
  sheet.name = gpu.name;
  if (gpu.memory_gb_per_s > 0) sheet.memory_gb_per_s = gpu.memory_gb_per_s;
  if (gpu.l2_bytes > 0) sheet.l2_bytes = gpu.l2_bytes;
  if (gpu.sm_count <= 0 || gpu.clock_mhz <= 0) return sheet;
  const double ratio = gpu.sm_count * gpu.clock_mhz / (sheet.sm_count * sheet.boost_clock_mhz);
  for (auto& [name, peak] : sheet.peak_tflops) peak *= ratio;
  sheet.sm_count = gpu.sm_count;
  sheet.boost_clock_mhz = gpu.clock_mhz;
  return sheet;
}

}  // namespace kw::vgpu
