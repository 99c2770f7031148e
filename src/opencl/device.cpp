#include "opencl/device.h"

#include <link.h>
#include <cstdlib>

namespace kw::opencl {

#ifdef KW_HAS_OPENCL_HEADERS

namespace {

template <typename Ask>
std::string asked(const Ask& ask) {
  std::size_t size = 0;
  if (ask(0, nullptr, &size) != CL_SUCCESS || size == 0) return "";
  std::string text(size, '\0');
  if (ask(size, text.data(), nullptr) != CL_SUCCESS) return "";
  text.resize(text.find('\0') == std::string::npos ? text.size() : text.find('\0'));
  return text;
}

}  // namespace

std::string Device::text(cl_device_info what) const {
  return asked(
      [&](std::size_t size, void* into, std::size_t* needed) { return api.clGetDeviceInfo(id, what, size, into, needed); });
}

std::string Device::platform_text(cl_platform_info what) const {
  return asked(
      [&](std::size_t size, void* into, std::size_t* needed) { return api.clGetPlatformInfo(platform, what, size, into, needed); });
}

Result<Device> open_device() {
  Device device;
  KW_TRY(device.api, load_api());
  const Api& api = device.api;
  const char* chosen = std::getenv("KERNELWRIGHT_OPENCL_DEVICE");
  const std::string wanted = chosen != nullptr ? chosen : "";
  cl_uint count = 0;
  if (api.clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0)
    return bad_input("there is no OpenCL platform here", "apt-get install pocl-opencl-icd: OpenCL on the processor");
  std::vector<cl_platform_id> platforms(count);
  api.clGetPlatformIDs(count, platforms.data(), nullptr);
  std::string seen;
  for (cl_platform_id platform : platforms) {
    cl_uint devices = 0;
    if (api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 0, nullptr, &devices) != CL_SUCCESS || devices == 0) continue;
    std::vector<cl_device_id> ids(devices);
    api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, devices, ids.data(), nullptr);
    for (cl_device_id id : ids) {
      device.platform = platform;
      device.id = id;
      const std::string name = device.text(CL_DEVICE_NAME);
      seen += (seen.empty() ? "" : ", ") + name;
      if (!wanted.empty() && name.find(wanted) == std::string::npos) continue;
      cl_int code = CL_SUCCESS;
      device.context = api.clCreateContext(nullptr, 1, &id, nullptr, nullptr, &code);
      if (code != CL_SUCCESS) return internal_error("the OpenCL device '" + name + "' does not start: " + error_name(code));
      return device;
    }
  }
  if (seen.empty())
    return bad_input("no OpenCL platform here has a CPU among its devices",
                     "apt-get install pocl-opencl-icd: kernels are run where their memory can be watched");
  return bad_input("no OpenCL device is called '" + wanted + "'", "KERNELWRIGHT_OPENCL_DEVICE: one of " + seen);
}

Result<Json> describe_device() {
  KW_TRY(const Device device, open_device());
  std::vector<std::string> libraries;
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* into) {
        if (object->dlpi_name != nullptr && object->dlpi_name[0] == '/')
          static_cast<std::vector<std::string>*>(into)->emplace_back(object->dlpi_name);
        return 0;
      },
      &libraries);
  return Json{{"platform", device.platform_text(CL_PLATFORM_NAME)},
              {"version", device.platform_text(CL_PLATFORM_VERSION)},
              {"device", device.text(CL_DEVICE_NAME)},
              {"libraries", libraries}};
}

#else

Result<Json> describe_device() {
  return bad_input("this build knows nothing of OpenCL: its headers were missing",
                   "apt-get install opencl-headers pocl-opencl-icd, then make build");
}

#endif

}  // namespace kw::opencl
