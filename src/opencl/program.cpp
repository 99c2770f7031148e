#include "opencl/program.h"

#include <algorithm>
#include <map>

#include "base/files.h"
#include "opencl/device.h"

namespace kw::opencl {

#ifdef KW_HAS_OPENCL_HEADERS

namespace {

Error failed(const std::string& what, cl_int code) {
  return internal_error(what + ": " + error_name(code) + " (" + std::to_string(code) + ")");
}

class LoadedProgram : public Program {
 public:
  LoadedProgram(const Device& device, LaunchPlan plan) : device_(device), plan_(std::move(plan)) {}

  Status load(const std::string& binary) {
    const Api& api = device_.api;
    cl_int code = CL_SUCCESS, binary_code = CL_SUCCESS;
    queue_ = api.clCreateCommandQueueWithProperties(device_.context, device_.id, nullptr, &code);
    if (code != CL_SUCCESS) return failed("the device gives no queue", code);
    const std::size_t bytes = binary.size();
    const auto* data = reinterpret_cast<const unsigned char*>(binary.data());
    cl_program program = api.clCreateProgramWithBinary(device_.context, 1, &device_.id, &bytes, &data, &binary_code, &code);
    if (code == CL_SUCCESS) code = binary_code;
    if (code == CL_SUCCESS) code = api.clBuildProgram(program, 1, &device_.id, "", nullptr, nullptr);
    if (code != CL_SUCCESS) return failed("the device does not take the program", code);
    for (const Launch& launch : plan_.launches) {
      kernels_.push_back(api.clCreateKernel(program, launch.kernel.c_str(), &code));
      if (code != CL_SUCCESS) return failed("kernel '" + launch.kernel + "'", code);
    }
    return {};
  }

  Status show(const Memory& memory) {
    if (buffers_.contains(memory.data)) return {};
    cl_int code = CL_SUCCESS;
    buffers_[memory.data] = device_.api.clCreateBuffer(device_.context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                                       std::max<std::uint64_t>(memory.bytes, 1), memory.data, &code);
    return code == CL_SUCCESS ? Status{} : failed("a tensor of " + std::to_string(memory.bytes) + " bytes", code);
  }

  Status use_scratch(const std::vector<Memory>& scratch) {
    for (const Memory& memory : scratch) {
      KW_CHECK(show(memory));
      scratch_.push_back(memory.data);
    }
    return {};
  }

  Status run(const std::vector<void*>& arguments, bool prepare) override {
    for (std::size_t i = 0; i < plan_.launches.size(); ++i) {
      const Launch& launch = plan_.launches[i];
      if (launch.prepare != prepare) continue;
      for (std::size_t p = 0; p < launch.parameters.size(); ++p) KW_CHECK(give(i, p, arguments));
      std::size_t global[3], local[3];
      std::copy(launch.global.begin(), launch.global.end(), global);
      std::copy(launch.local.begin(), launch.local.end(), local);
      const cl_int code = device_.api.clEnqueueNDRangeKernel(queue_, kernels_[i], 3, nullptr, global, local, 0, nullptr, nullptr);
      if (code != CL_SUCCESS) return failed("the launch of '" + launch.kernel + "'", code);
    }
    const cl_int code = device_.api.clFinish(queue_);
    return code == CL_SUCCESS ? Status{} : failed("the launches", code);
  }

 private:
  Status give(std::size_t launch, std::size_t position, const std::vector<void*>& arguments) {
    const Parameter& parameter = plan_.launches[launch].parameters[position];
    const auto index = static_cast<std::size_t>(parameter.index);
    const void* value = &parameter.number;
    std::size_t bytes = static_cast<std::size_t>(parameter.bytes);
    if (parameter.gives == Gives::scalar) value = arguments.at(index);
    if (parameter.gives == Gives::tensor || parameter.gives == Gives::scratch) {
      value = &buffers_.at(parameter.gives == Gives::tensor ? arguments.at(index) : scratch_.at(index));
      bytes = sizeof(cl_mem);
    }
    const cl_int code = device_.api.clSetKernelArg(kernels_[launch], static_cast<cl_uint>(position), bytes, value);
    return code == CL_SUCCESS ? Status{} : failed("a parameter of '" + plan_.launches[launch].kernel + "'", code);
  }

  Device device_;
  LaunchPlan plan_;
  cl_command_queue queue_ = nullptr;
  std::vector<cl_kernel> kernels_;  // one for each launch, so that parameters stay
  std::map<const void*, cl_mem> buffers_;
  std::vector<void*> scratch_;
};

}  // namespace

Result<std::unique_ptr<Program>> Program::open(const std::string& binary_file, const LaunchPlan& plan,
                                               const std::vector<Memory>& memory, const std::vector<Memory>& scratch) {
  KW_TRY(const std::string binary, read_file(binary_file));
  KW_TRY(Device device, open_device());
  auto program = std::make_unique<LoadedProgram>(device, plan);
  KW_CHECK(program->load(binary));
  for (const Memory& each : memory) KW_CHECK(program->show(each));
  KW_CHECK(program->use_scratch(scratch));
  return std::unique_ptr<Program>(std::move(program));
}

#else

Result<std::unique_ptr<Program>> Program::open(const std::string&, const LaunchPlan&, const std::vector<Memory>&,
                                               const std::vector<Memory>&) {
  KW_TRY(const Json unused, describe_device());
  return internal_error("there is a device without headers");
}

#endif

}  // namespace kw::opencl
