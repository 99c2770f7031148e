// A virtual GPU with the kernels of support/ptx loaded, and short words for memory and launches.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "base/files.h"
#include "support/tests_folder.h"
#include "vgpu/device.h"

namespace kw::vgpu {

class Rig {
 public:
  explicit Rig(DeviceOptions options = {}) : device(options) {}

  const Module* load_text(std::string_view ptx) {
    auto loaded = device.load(ptx, "test.ptx");
    EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().message);
    module = loaded.ok() ? loaded.value() : nullptr;
    return module;
  }
  Rig& load_kernels(const std::string& file = "kernels.ptx") {
    auto text = read_file((kw::testing::tests_folder() / "support/ptx" / file).string());
    EXPECT_TRUE(text.ok());
    if (text.ok()) load_text(*text);
    return *this;
  }

  template <typename T>
  T* upload(const std::vector<T>& values, const std::string& name) {
    T* place = empty<T>(values.size(), name);
    std::memcpy(place, values.data(), values.size() * sizeof(T));
    device.note_host_write(place, values.size() * sizeof(T));
    return place;
  }
  template <typename T>
  T* empty(std::size_t count, const std::string& name) {
    auto made = device.allocate(count * sizeof(T), name);
    EXPECT_TRUE(made.ok());
    return reinterpret_cast<T*>(made.value());
  }

  // Arguments of the exact types of the kernel's parameters.
  template <typename... Args>
  LaunchReport run(std::string_view kernel, Dim3 grid, Dim3 block, std::uint32_t shared, Args... args) {
    std::vector<std::byte> params;
    (append(params, args), ...);
    if (module == nullptr) return {};
    auto function = device.kernel(*module, kernel);
    EXPECT_TRUE(function.ok()) << kernel;
    if (!function.ok()) return {};
    auto report = device.launch(**function, grid, block, shared, params, cluster);
    EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().message);
    return report.ok() ? std::move(report.value()) : LaunchReport{};
  }

  Device device;
  const Module* module = nullptr;
  Dim3 cluster;

 private:
  template <typename T>
  static void append(std::vector<std::byte>& params, T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::size_t at = (params.size() + alignof(T) - 1) / alignof(T) * alignof(T);
    params.resize(at + sizeof(T));
    std::memcpy(params.data() + at, &value, sizeof(T));
  }
};

inline std::string findings_text(const LaunchReport& report) {
  std::string text;
  for (const Finding& finding : report.findings) {
    text += finding.kind + ": " + finding.message + " (" + finding.file + ":" + std::to_string(finding.line) + ", PTX " +
            std::to_string(finding.ptx_line) + ")\n";
  }
  return text;
}

inline const Finding* find_kind(const LaunchReport& report, std::string_view kind) {
  for (const Finding& finding : report.findings) {
    if (finding.kind == kind) return &finding;
  }
  return nullptr;
}

// The line of kernels.cu that holds the text: findings have to name it.
inline int line_with(std::string_view text) {
  auto source = read_file((kw::testing::tests_folder() / "support/ptx/kernels.cu").string());
  if (!source.ok()) return -1;
  const std::size_t at = source->find(text);
  if (at == std::string::npos) return -1;
  int line = 1;
  for (std::size_t i = 0; i < at; ++i) line += (*source)[i] == '\n' ? 1 : 0;
  return line;
}

}  // namespace kw::vgpu
