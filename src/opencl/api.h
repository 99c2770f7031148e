// OpenCL's functions, found in libOpenCL when they are needed: nothing is linked with it, so that one build runs with and without.
#pragma once

#if __has_include(<CL/cl.h>)
#define KW_HAS_OPENCL_HEADERS 1
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include "base/result.h"

namespace kw::opencl {

struct Api {
#define KW_OPENCL_FUNCTIONS(F) \
  F(clGetPlatformIDs)          \
  F(clGetPlatformInfo)         \
  F(clGetDeviceIDs)            \
  F(clGetDeviceInfo)           \
  F(clCreateContext)           \
  F(clCreateProgramWithSource) \
  F(clCreateProgramWithBinary) \
  F(clBuildProgram)            \
  F(clGetProgramBuildInfo)     \
  F(clGetProgramInfo)          \
  F(clCreateKernelsInProgram)  \
  F(clCreateKernel)            \
  F(clGetKernelInfo)           \
  F(clGetKernelArgInfo)        \
  F(clGetKernelWorkGroupInfo)  \
  F(clSetKernelArg)            \
  F(clCreateBuffer) F(clReleaseMemObject) F(clCreateCommandQueueWithProperties) F(clEnqueueNDRangeKernel) F(clFinish)
#define KW_OPENCL_MEMBER(name) decltype(&::name) name = nullptr;
  KW_OPENCL_FUNCTIONS(KW_OPENCL_MEMBER)
#undef KW_OPENCL_MEMBER
};

// Loads libOpenCL; an error says what to install.
Result<Api> load_api();

// "-30" is "CL_INVALID_VALUE", as far as it is usual.
const char* error_name(cl_int code);

}  // namespace kw::opencl
#endif
