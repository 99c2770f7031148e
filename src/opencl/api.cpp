#include "opencl/api.h"

#ifdef KW_HAS_OPENCL_HEADERS

#include <dlfcn.h>

namespace kw::opencl {

Result<Api> load_api() {
  void* library = ::dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return bad_input("there is no libOpenCL.so.1 here", "apt-get install ocl-icd-libopencl1 pocl-opencl-icd");
  Api api;
  const char* missing = nullptr;
#define KW_OPENCL_FIND(name)                                                \
  api.name = reinterpret_cast<decltype(api.name)>(::dlsym(library, #name)); \
  if (api.name == nullptr) missing = #name;
  KW_OPENCL_FUNCTIONS(KW_OPENCL_FIND)
#undef KW_OPENCL_FIND
  if (missing != nullptr)
    return bad_input(std::string("this libOpenCL has no ") + missing, "it is older than OpenCL 2.0: install a newer one");
  return api;
}

const char* error_name(cl_int code) {
  switch (code) {
    case CL_DEVICE_NOT_AVAILABLE:
      return "the device is not available";
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_RESOURCES:
    case CL_OUT_OF_HOST_MEMORY:
      return "out of memory";
    case CL_BUILD_PROGRAM_FAILURE:
      return "the program does not compile";
    case CL_INVALID_BINARY:
      return "the binary is for another device";
    case CL_INVALID_KERNEL_NAME:
      return "there is no such kernel";
    case CL_INVALID_BUFFER_SIZE:
      return "a buffer is too large for the device";
    case CL_INVALID_WORK_GROUP_SIZE:
      return "the work-group does not fit the kernel or the device";
    case CL_INVALID_ARG_SIZE:
      return "an argument has the wrong size";
    default:
      return "an OpenCL error";
  }
}

}  // namespace kw::opencl

#endif
