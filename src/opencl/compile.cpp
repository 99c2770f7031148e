#include "opencl/compile.h"

#include <cstdio>

#include "base/files.h"
#include "opencl/device.h"

namespace kw::opencl {

#ifdef KW_HAS_OPENCL_HEADERS

namespace {

const char* memory_name(cl_kernel_arg_address_qualifier address) {
  switch (address) {
    case CL_KERNEL_ARG_ADDRESS_GLOBAL:
      return "global";
    case CL_KERNEL_ARG_ADDRESS_CONSTANT:
      return "constant";
    case CL_KERNEL_ARG_ADDRESS_LOCAL:
      return "local";
    default:
      return "private";
  }
}

std::string kernel_text(const Api& api, cl_kernel kernel, cl_kernel_info what) {
  char text[1024] = "";
  return api.clGetKernelInfo(kernel, what, sizeof text, text, nullptr) == CL_SUCCESS ? text : "";
}

std::string parameter_text(const Api& api, cl_kernel kernel, cl_uint index, cl_kernel_arg_info what) {
  char text[1024] = "";
  return api.clGetKernelArgInfo(kernel, index, what, sizeof text, text, nullptr) == CL_SUCCESS ? text : "";
}

KernelFacts facts_of(const Device& device, cl_kernel kernel) {
  const Api& api = device.api;
  KernelFacts facts;
  facts.name = kernel_text(api, kernel, CL_KERNEL_FUNCTION_NAME);
  cl_uint count = 0;
  api.clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, nullptr);
  for (cl_uint i = 0; i < count; ++i) {
    ParameterFacts parameter;
    parameter.name = parameter_text(api, kernel, i, CL_KERNEL_ARG_NAME);
    parameter.type = parameter_text(api, kernel, i, CL_KERNEL_ARG_TYPE_NAME);
    cl_kernel_arg_address_qualifier address = CL_KERNEL_ARG_ADDRESS_PRIVATE;
    api.clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof address, &address, nullptr);
    parameter.memory = memory_name(address);
    facts.parameters.push_back(std::move(parameter));
  }
  std::size_t most = 0, required[3] = {0, 0, 0};
  api.clGetKernelWorkGroupInfo(kernel, device.id, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, nullptr);
  api.clGetKernelWorkGroupInfo(kernel, device.id, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof required, required, nullptr);
  facts.most_work_items = most;
  for (std::size_t d = 0; d < 3; ++d) facts.required_local[d] = required[d];
  return facts;
}

}  // namespace

Result<Compiled> compile(const std::string& source, const std::string& options) {
  KW_TRY(const Device device, open_device());
  const Api& api = device.api;
  cl_int code = CL_SUCCESS;
  const char* text = source.c_str();
  const std::size_t length = source.size();
  cl_program program = api.clCreateProgramWithSource(device.context, 1, &text, &length, &code);
  if (code != CL_SUCCESS) return internal_error(std::string("clCreateProgramWithSource: ") + error_name(code));
  const cl_int built = api.clBuildProgram(program, 1, &device.id, options.c_str(), nullptr, nullptr);
  Compiled compiled;
  std::size_t said = 0;
  api.clGetProgramBuildInfo(program, device.id, CL_PROGRAM_BUILD_LOG, 0, nullptr, &said);
  compiled.log.resize(said);
  if (said > 0) api.clGetProgramBuildInfo(program, device.id, CL_PROGRAM_BUILD_LOG, said, compiled.log.data(), nullptr);
  while (!compiled.log.empty() && compiled.log.back() == '\0') compiled.log.pop_back();
  if (built != CL_SUCCESS) return compiled;

  std::size_t bytes = 0;
  api.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, nullptr);
  compiled.binary.resize(bytes);
  auto* into = reinterpret_cast<unsigned char*>(compiled.binary.data());
  if (bytes == 0 || api.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof into, &into, nullptr) != CL_SUCCESS)
    return internal_error("the OpenCL compiler gives no binary for " + device.text(CL_DEVICE_NAME));
  cl_uint count = 0;
  api.clCreateKernelsInProgram(program, 0, nullptr, &count);
  std::vector<cl_kernel> kernels(count);
  if (count > 0) api.clCreateKernelsInProgram(program, count, kernels.data(), nullptr);
  for (cl_kernel kernel : kernels) compiled.kernels.push_back(facts_of(device, kernel));
  return compiled;
}

#else

Result<Compiled> compile(const std::string&, const std::string&) {
  KW_TRY(const Json unused, describe_device());
  return internal_error("there is a device without headers");
}

#endif

namespace {

int say_error(const Error& error) {
  std::fprintf(stderr, "kw-clc: %s\n%s\n", error.message.c_str(), error.hint.c_str());
  return 2;
}

}  // namespace

int run_compiler(const std::vector<std::string>& words) {
  if (words.size() == 1 && words[0] == "describe") {
    const auto described = describe_device();
    if (!described) return say_error(described.error());
    std::puts(described->dump().c_str());
    return 0;
  }
  if (words.size() != 5 || words[0] != "compile") {
    std::fputs("usage: kw-clc describe | kw-clc compile SOURCE BINARY FACTS OPTIONS\n", stderr);
    return 2;
  }
  const auto source = read_file(words[1]);
  if (!source) return say_error(source.error());
  const auto compiled = compile(*source, words[4]);
  if (!compiled) return say_error(compiled.error());
  std::fputs(compiled->log.c_str(), stderr);
  if (compiled->binary.empty()) return 1;
  for (const auto& [file, text] : {std::pair{words[2], compiled->binary}, std::pair{words[3], Json(compiled->kernels).dump()}})
    if (const Status written = write_file_atomically(file, text); !written) return say_error(written.error());
  return 0;
}

}  // namespace kw::opencl
