#include "search/gpu_place.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/subprocess.h"
#include "problem/oracle_client.h"
#include "record/dsl_place.h"

namespace kw {
namespace {

// Without importing PyTorch, which takes seconds: its file of versions.
constexpr const char* kCudaOfTorch =
    "import importlib.util, pathlib\n"
    "names = {}\n"
    "folder = pathlib.Path(importlib.util.find_spec('torch').submodule_search_locations[0])\n"
    "exec((folder / 'version.py').read_text(), names)\n"
    "print(names.get('cuda') or '')\n";

bool torch_has_cuda() {
  if (std::getenv("KERNELWRIGHT_TORCH_DEVICE") != nullptr)
    return true;  // NOLINT(concurrency-mt-unsafe): something stands in for it
  const auto python = oracle_python();
  if (!python) return false;
  const auto asked = run_command({{*python, "-c", kCudaOfTorch}, {}, "", std::chrono::seconds(30), 4096});
  return asked && asked->succeeded() && asked->out.find_first_not_of(" \n") != std::string::npos;
}

}  // namespace

Result<GpuPlace> gpu_place_among(const vgpu::PresentGpus& present, const std::string& machine, std::string_view dsl) {
  const auto meant = std::find_if(present.all.begin(), present.all.end(),
                                  [&](const vgpu::PresentGpu& gpu) { return machine.empty() || vgpu::goes_by(gpu, machine); });
  if (meant == present.all.end()) {
    GpuPlace place{machine, std::nullopt, ""};
    if (!present.all.empty())
      place.note = fmt::format("{} is here, but --machine says {}: times are estimates", present.all.front().name, machine);
    if (machine.empty()) return place;
    KW_TRY(const vgpu::GpuSheet sheet, vgpu::load_gpu_sheet(machine));  // an unknown GPU is told at once
    return place;
  }
  KW_TRY(const vgpu::GpuSheet sheet, vgpu::judging_sheet(*meant));
  GpuPlace place{sheet.id, *meant, ""};
  if (!is_timed_on_gpu(dsl)) {
    place.device.reset();
    place.note = fmt::format("kernels in {} are not timed on {}: times are estimates", dsl, meant->name);
  }
  return place;
}

Result<GpuPlace> gpu_place(const std::string& machine, std::string_view dsl) {
  KW_TRY(GpuPlace place, gpu_place_among(vgpu::present_gpus(), machine, dsl));
  if (place.device && !torch_has_cuda()) {
    place.note =
        fmt::format("{} is here, but PyTorch is built without CUDA, so that there is nothing to compare with: times are estimates",
                    place.device->name);
    place.device.reset();
  }
  return place;
}

}  // namespace kw
