#include "dsl/device_box.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "sandbox/library_files.h"

namespace kw {
namespace {

std::vector<fs::path> library_folders() {
  std::vector<fs::path> folders{"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64",           "/usr/lib",
                                "/usr/lib/wsl/lib",          "/usr/local/nvidia/lib64",    "/usr/local/nvidia/lib"};
  const char* more = std::getenv("LD_LIBRARY_PATH");  // NOLINT(concurrency-mt-unsafe)
  for (std::string rest = more == nullptr ? "" : more; !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) folders.emplace_back(rest.substr(0, end));
    rest.erase(0, end + 1);
  }
  return folders;
}

bool is_driver_library(const std::string& name) {
  return name.starts_with("libcuda.so") || name.starts_with("libcudadebugger.so") || name.starts_with("libnvidia-") ||
         name.starts_with("libdxcore.so") || name.starts_with("libd3d12");  // the last two: under Windows
}

bool is_device_node(const std::string& name) { return name.starts_with("nvidia") || name == "dxg"; }

}  // namespace

Result<std::vector<std::string>> driver_files(const vgpu::PresentGpu& gpu) {
  KW_TRY(std::vector<std::string> files, sandbox::library_files(gpu.runtime));
  for (const fs::path& folder : library_folders())
    for (const auto& entry : entries_of(folder)) {
      if (!is_driver_library(entry.path().filename().string())) continue;
      files.push_back(entry.path().string());
      if (entry.path().filename() != "libcuda.so.1") continue;
      KW_TRY(const auto needed, sandbox::library_files(entry.path().string()));
      files.insert(files.end(), needed.begin(), needed.end());
    }
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

void show_device(sandbox::Spec& box, const std::vector<std::string>& files) {
  for (const char* folder : {"/dev", "/dev/nvidia-caps"})
    for (const auto& entry : entries_of(folder))
      if (is_device_node(entry.path().filename().string()) && !entry.is_directory()) box.devices.push_back(entry.path().string());
  for (const char* read : {"/sys", "/proc/driver/nvidia", "/proc/devices", "/proc/modules", "/proc/cpuinfo", "/proc/meminfo"})
    if (std::error_code error; !box.devices.empty() && fs::exists(read, error)) box.read_only.push_back({read, ""});
  box.own_proc = !box.devices.empty();
  std::set<std::string> folders;
  for (const std::string& file : files)
    if (fs::path(file).filename().string().starts_with("libcuda.so")) folders.insert(fs::path(file).parent_path().string());
  std::string path;
  for (const std::string& folder : folders) path += (path.empty() ? "" : ":") + folder;
  if (!path.empty()) box.environment["LD_LIBRARY_PATH"] = path;
  box.environment["CUDA_CACHE_DISABLE"] = "1";                                 // there is nowhere to keep it
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"})       // as the runtime counted when it was asked
    if (const char* value = std::getenv(name)) box.environment[name] = value;  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace kw
