// Kernels on the machine's own GPU, with the virtual one's runtime in the place of NVIDIA's.
#include <cmath>

#include <gtest/gtest.h>

#include "dsl/cuda.h"
#include "support/compiled_kernel.h"
#include "support/small_problems.h"
#include "vgpu/toolkit.h"

namespace kw {
namespace {

using std::chrono::milliseconds;
using testing::fill;
using testing::values_of;

constexpr milliseconds kDevicePatience{30000};
constexpr std::size_t kDeviceX = 0, kDeviceOut = 1;
constexpr int kElements = 19;

// The last element is written by the first call alone; from the sixth call on nothing can be launched.
constexpr const char* kDeviceKernel = R"(
#include "problem.h"
__global__ void twice(const float* x, float* out, int n) {
  if (threadIdx.x < n) out[threadIdx.x] = 2 * x[threadIdx.x];
}
static int calls = 0;
extern "C" void kw_kernel(const float* x, float* out, cudaStream_t stream) {
  ++calls;
  twice<<<1, calls < 6 ? 32 : 5000, 0, stream>>>(x, out, calls == 1 ? 19 : 18);
}
)";

struct BuiltForDevice {
  TempFolder folder = std::move(TempFolder::make("kw-device")).value();
  ProblemDescription problem = testing::vector_problem(kElements);
  CompileOptions options;
  CompileOutcome outcome;
};

BuiltForDevice built_for(const std::string& runtime, int cc_minor) {
  BuiltForDevice built;
  built.options.mode = testing::sandbox_mode();
  built.options.device = vgpu::PresentGpu{0, "a GPU", runtime, 8, cc_minor, 1, 0, 0, 1 << 20};
  auto outcome = compile_cuda_c(built.problem, {"mine.cu", kDeviceKernel, {}}, built.folder.path(), built.options);
  EXPECT_TRUE(outcome.ok()) << (outcome.ok() ? "" : outcome.error().message);
  if (outcome.ok()) built.outcome = *outcome;
  return built;
}

bool mentions(const std::string& file, const std::string& words) {
  return read_file(file).value().find(words) != std::string::npos;
}

TEST(Device, CallsAreTimedByEventsOnFreshTensors) {
  if (!vgpu::find_nvcc().ok()) GTEST_SKIP() << "there is no nvcc here";
  const auto built = built_for(std::move(vgpu::find_cudart_library()).value().string(), 0);
  ASSERT_TRUE(built.outcome.kernel) << built.outcome.diagnosis.summary;
  SessionOptions options;
  options.mode = built.options.mode;
  options.slots = options.out_slots = 2;
  options.device = SessionDevice{*built.options.device, 4096};
  Session session = std::move(Session::create(built.problem, *built.outcome.kernel, options)).value();
  for (const int slot : {0, 1}) fill(session, kDeviceX, slot, std::vector<float>(kElements, static_cast<float>(slot + 3)));
  const auto launched = session.launch(kDevicePatience);
  ASSERT_TRUE(launched.ok() && launched->ok()) << (launched.ok() ? launched->failure.diagnosis.summary : launched.error().message);
  ASSERT_TRUE(session.prepare(kDevicePatience)->ok());

  const int slots[] = {0, 1};
  const auto called = session.call(slots, slots, false, kDevicePatience);
  ASSERT_TRUE(called.ok() && called->ok()) << (called.ok() ? called->failure.diagnosis.summary : called.error().message);
  ASSERT_EQ(called->value->seconds.size(), 2U);
  EXPECT_EQ(called->value->late_seconds.size(), 2U);
  EXPECT_EQ(called->value->gpu->error, 0) << called->value->gpu->error_name;
  for (const double seconds : called->value->seconds) {
    EXPECT_GT(seconds, 0);
    EXPECT_LT(seconds, called->value->outside_seconds);
  }
  bool broken = false;
  const auto first = values_of<float>(*session.output(kDeviceOut, 0, broken));
  const auto second = values_of<float>(*session.output(kDeviceOut, 1, broken));
  EXPECT_FALSE(broken);
  EXPECT_EQ(first, std::vector<float>(kElements, 6.0F));
  EXPECT_EQ(second.front(), 8.0F) << "another set of inputs";
  EXPECT_TRUE(std::isnan(second.back())) << "what the call before wrote is still there";

  const auto burst = session.burst(3, kDevicePatience);
  ASSERT_TRUE(burst.ok() && burst->ok());
  ASSERT_EQ(burst->value->seconds.size(), 1U) << "one time for all";
  EXPECT_EQ(burst->value->gpu->error, 0);
  EXPECT_LT(burst->value->seconds.front(), burst->value->outside_seconds);

  const auto refused = session.call(slots, slots, false, kDevicePatience);
  ASSERT_TRUE(refused.ok() && refused->ok());
  EXPECT_EQ(refused->value->gpu->error_name, "cudaErrorInvalidConfiguration");
}

TEST(Device, CodeForItIsLinkedWithItsRuntime) {
  const auto runtime = vgpu::find_cuda_runtime();
  if (!runtime.ok()) GTEST_SKIP() << runtime.error().message;
  const auto built = built_for(runtime->string(), 6);
  ASSERT_TRUE(built.outcome.kernel) << built.outcome.diagnosis.summary;
  const GpuBuild& gpu = *built.outcome.kernel->gpu;
  EXPECT_TRUE(mentions(gpu.device_object, "libcudart.so."));
  EXPECT_FALSE(mentions(gpu.device_object, "libkw_cudart"));
  EXPECT_TRUE(mentions(built.outcome.kernel->object, "libkw_cudart")) << "the virtual GPU still judges";
  const Json facts = Json::parse(gpu.facts);
  ASSERT_EQ(facts.size(), 1U) << gpu.facts;
  EXPECT_GT(facts.front().at("registers").get<int>(), 0);
  const auto flags = std::move(cuda_c_flags(built.options)).value();
  EXPECT_NE(flags.at(3).find("sm_80,sm_86]"), std::string::npos) << flags.at(3);
  EXPECT_EQ(flags.back(), "(for a100 and a GPU)") << "what is known of another machine's build is not known of this one's";
}

}  // namespace
}  // namespace kw
