// The OpenCL device that kernels are compiled for and run on: one that shares the memory of this process. It is chosen once, in
// the compiler and in the runner alike.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "opencl/api.h"

namespace kw::opencl {

#ifdef KW_HAS_OPENCL_HEADERS
struct Device {
  Api api;
  cl_platform_id platform = nullptr;
  cl_device_id id = nullptr;
  cl_context context = nullptr;
  [[nodiscard]] std::string text(cl_device_info what) const;
  [[nodiscard]] std::string platform_text(cl_platform_info what) const;
};

// The first CPU, or the first device whose name contains $KERNELWRIGHT_OPENCL_DEVICE. An error says what to install.
Result<Device> open_device();
#endif

// {"platform", "device", "version", "libraries"}: what there is, and every file that was loaded to find it.
Result<Json> describe_device();

}  // namespace kw::opencl
