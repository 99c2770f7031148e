// The runtime's functions as a program calls them, without nvcc: device code is a container made here.
#include <gtest/gtest.h>

#include <cstring>

#include "base/json.h"
#include "cudart/abi.h"
#include "cudart/control.h"
#include "cudart/fatbin.h"
#include "cudart/findings.h"

extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*);
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int);
void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, std::size_t, int, int);
char __cudaInitModule(void**);
unsigned __cudaPushCallConfiguration(kw::vgpu::Dim3, kw::vgpu::Dim3, std::size_t, void*);
int __cudaPopCallConfiguration(kw::vgpu::Dim3*, kw::vgpu::Dim3*, std::size_t*, void*);
int __cudaGetKernel(void**, const void*);
int __cudaLaunchKernel(void*, kw::vgpu::Dim3, kw::vgpu::Dim3, void**, std::size_t, void*);
int cudaLaunchKernel(const void*, kw::vgpu::Dim3, kw::vgpu::Dim3, void**, std::size_t, void*);
int cudaLaunchCooperativeKernel(const void*, kw::vgpu::Dim3, kw::vgpu::Dim3, void**, std::size_t, void*);
int cudaLaunchKernelExC(const kw::cudart::LaunchConfig*, const void*, void**);
int cudaMalloc(void**, std::size_t);
int cudaMallocManaged(void**, std::size_t, unsigned);
int cudaMallocHost(void**, std::size_t);
int cudaMalloc3D(kw::cudart::PitchedPtr*, kw::cudart::Extent);
int cudaFree(void*);
int cudaFreeHost(void*);
int cudaHostRegister(void*, std::size_t, unsigned);
int cudaHostUnregister(void*);
int cudaMemcpy(void*, const void*, std::size_t, int);
int cudaMemcpyAsync(void*, const void*, std::size_t, int, void*);
int cudaMemcpy2D(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t, int);
int cudaMemcpy3D(const kw::cudart::Copy3D*);
int cudaMemcpyToSymbol(const void*, const void*, std::size_t, std::size_t, int);
int cudaMemcpyFromSymbol(void*, const void*, std::size_t, std::size_t, int);
int cudaGetSymbolSize(std::size_t*, const void*);
int cudaMemset(void*, int, std::size_t);
int cudaPointerGetAttributes(kw::cudart::PointerAttributes*, const void*);
int cudaStreamCreate(void**);
int cudaStreamDestroy(void*);
int cudaStreamSynchronize(void*);
int cudaEventCreateWithFlags(void**, unsigned);
int cudaEventRecord(void*, void*);
int cudaEventElapsedTime(float*, void*, void*);
int cudaEventDestroy(void*);
int cudaDeviceSynchronize();
int cudaDeviceReset();
int cudaGetLastError();
int cudaPeekAtLastError();
const char* cudaGetErrorName(int);
const char* cudaGetErrorString(int);
int cudaGetDeviceProperties(kw::cudart::DeviceProperties*, int);
int cudaDeviceGetAttribute(int*, int, int);
int cudaSetDevice(int);
int cudaFuncSetAttribute(const void*, int, int);
int cudaFuncGetAttributes(kw::cudart::FunctionAttributes*, const void*);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int*, const void*, int, std::size_t);
int cudaGraphCreate(void**, unsigned);
}

namespace kw::cudart {
namespace {

constexpr const char* kPtx = R"(.version 8.0
.target sm_80
.address_size 64
.const .align 4 .b8 scale[4];
.global .align 4 .u32 counter = 5;
.global .attribute(.managed) .align 4 .u32 shown = 7;

.visible .entry multiply(.param .u64 out, .param .u32 n, .param .u64 in)
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [n];
  ld.param.u64 %rd2, [in];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra done;
  mul.wide.s32 %rd3, %r5, 4;
  add.s64 %rd4, %rd2, %rd3;
  ld.global.f32 %f1, [%rd4];
  ld.const.f32 %f2, [scale];
  mul.f32 %f3, %f1, %f2;
  add.s64 %rd5, %rd1, %rd3;
  st.global.f32 [%rd5], %f3;
done:
  ret;
}

.visible .entry shared_user()
{
  .reg .b32 %r<2>;
  .shared .align 4 .b8 buffer[1024];
  mov.u32 %r1, 1;
  st.shared.u32 [buffer], %r1;
  ret;
}
)";

template <typename T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

struct PlannedImage {
  std::uint16_t kind;
  std::uint32_t arch;
  std::string payload;
  std::uint64_t flags = 0;
  std::uint64_t unpacked = 0;
};

// As nvcc writes it.
std::string container(const std::vector<PlannedImage>& images) {
  std::string body;
  for (const auto& image : images) {
    std::string payload = image.payload;
    payload.resize((payload.size() + 8) / 8 * 8, '\0');
    append<std::uint16_t>(body, image.kind);
    append<std::uint16_t>(body, 0x0101);
    append<std::uint32_t>(body, 72);
    append<std::uint64_t>(body, payload.size());
    append<std::uint32_t>(body, image.flags != 0 ? static_cast<std::uint32_t>(image.payload.size()) : 0);
    append<std::uint32_t>(body, 0);
    append<std::uint32_t>(body, 0x00080000);
    append<std::uint32_t>(body, image.arch);
    append<std::uint32_t>(body, 64);  // the name stands at the end of the header
    append<std::uint32_t>(body, 4);
    append<std::uint64_t>(body, image.flags);
    append<std::uint64_t>(body, 0);
    append<std::uint64_t>(body, image.unpacked);
    body += std::string("a.cu\0\0\0\0", 8);
    body += payload;
  }
  std::string bytes;
  append<std::uint32_t>(bytes, 0xba55ed50);
  append<std::uint16_t>(bytes, 1);
  append<std::uint16_t>(bytes, 16);
  append<std::uint64_t>(bytes, body.size());
  return bytes + body;
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text.data(), text.size())); }

// "abcabcabcabc!" as one literal run, a match that overlaps itself, and a last literal.
const std::string kLz4(
    "\x35"
    "abc"
    "\x03\x00"
    "\x10"
    "!",
    8);

TEST(Fatbin, GivesTheTextOfPtx) {
  const std::string bytes = container({{1, 80, kPtx}});
  auto images = read_fatbin(bytes_of(bytes));
  ASSERT_TRUE(images) << images.error().message;
  ASSERT_EQ(images->size(), 1u);
  EXPECT_EQ(images->at(0).arch, 80);
  EXPECT_EQ(images->at(0).file, "a.cu");
  EXPECT_EQ(*ptx_text(images->at(0)), kPtx);
}

TEST(Fatbin, UnpacksLz4) {
  EXPECT_EQ(*unpack_lz4(bytes_of(kLz4), 13), "abcabcabcabc!");
  EXPECT_FALSE(unpack_lz4(bytes_of(kLz4), 12));
  EXPECT_FALSE(unpack_lz4(bytes_of(kLz4), 14));
  EXPECT_FALSE(unpack_lz4(bytes_of(kLz4).first(3), 13));
  EXPECT_FALSE(unpack_lz4(bytes_of(std::string("\x35"
                                               "abc"
                                               "\x09\x00",
                                               6)),
                          13))
      << "a match before the begin";
  auto images = read_fatbin(bytes_of(container({{1, 75, kLz4, 0x2011, 13}})));
  ASSERT_TRUE(images);
  EXPECT_EQ(images->at(0).packing, Packing::lz4);
}

TEST(Fatbin, ChoosesWhatTheGpuCanRun) {
  const std::string bytes = container({{2, 86, "ELF"}, {1, 75, "a"}, {1, 80, "b"}, {1, 90, "c"}});
  auto images = read_fatbin(bytes_of(bytes));
  ASSERT_TRUE(images);
  EXPECT_EQ((*choose_ptx(*images, 89))->arch, 80);
  EXPECT_EQ((*choose_ptx(*images, 90))->arch, 90);
  EXPECT_EQ((*choose_ptx(*images, 70))->arch, 75) << "the lowest, where none fits";
  const auto machine_only = read_fatbin(bytes_of(container({{2, 86, "ELF"}})));
  auto none = choose_ptx(*machine_only, 80);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("sm_86"), std::string::npos);
  EXPECT_NE(none.error().hint.find("code=compute_80"), std::string::npos);
}

TEST(Fatbin, DamagedContainersAreErrors) {
  const std::string whole = container({{1, 80, kPtx}});
  EXPECT_FALSE(read_fatbin(bytes_of("")));
  EXPECT_FALSE(read_fatbin(bytes_of(std::string(64, 'x'))));
  for (std::size_t size = 0; size < whole.size(); size += 7) EXPECT_FALSE(read_fatbin(bytes_of(whole).first(size))) << size;
  for (const std::size_t at : {20u, 25u, 31u}) {  // the sizes of the image's header and payload
    std::string changed = whole;
    changed[at] = '\x7f';
    EXPECT_FALSE(read_fatbin(bytes_of(changed))) << at;
  }
}

TEST(Findings, ReadLikeASanitizers) {
  vgpu::Finding finding;
  finding.kind = "out_of_bounds";
  finding.message = "a write of 4 bytes";
  finding.kernel = "_Z4fillPii";
  finding.file = "fill.cu";
  finding.line = 7;
  finding.thread = {100, 0, 0};
  finding.block = {2, 0, 0};
  finding.allocation = "cudaMalloc #1";
  finding.count = 3;
  const std::string text = finding_text(finding);
  for (const char* words : {"out_of_bounds: a write of 4 bytes", "fill(int*, int), fill.cu:7", "thread (100,0,0) of block (2,0,0)",
                            "cudaMalloc #1", "3 times"})
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
}

// One process has one runtime: the code is registered once.
class Cudart : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (registered_) return;
    registered_ = true;
    ASSERT_EQ(kw_vgpu_configure("a100", 1, 1, 1, 30), kSuccess);
    static const std::string bytes = container({{1, 80, kPtx}});
    static FatbinWrapper wrapper{kFatbinWrapperMagic, 1, bytes.data(), nullptr};
    void** handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, &multiply_, nullptr, "multiply", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    __cudaRegisterFunction(handle, &shared_user_, nullptr, "shared_user", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    __cudaRegisterVar(handle, &scale_, nullptr, "scale", 0, 4, 1, 0);
    __cudaRegisterVar(handle, &counter_, nullptr, "counter", 0, 4, 0, 0);
    __cudaRegisterManagedVar(handle, &shown_, nullptr, "shown", 0, 4, 0, 0);
    __cudaInitModule(handle);
  }
  void SetUp() override {
    cudaDeviceReset();
    take_report();
  }
  static std::vector<Json> take_report() {
    std::string text(kw_vgpu_take_report(nullptr, 0), '\0');
    kw_vgpu_take_report(text.data(), text.size());
    std::vector<Json> lines;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      lines.push_back(*parse_json(text.substr(at, end - at), "report"));
      at = end + 1;
    }
    return lines;
  }
  static int launch(const void* kernel, vgpu::Dim3 grid, vgpu::Dim3 block, std::size_t shared, void* out, int n, void* in) {
    void* args[] = {&out, &n, &in};
    return cudaLaunchKernel(kernel, grid, block, args, shared, nullptr);
  }
  inline static bool registered_ = false;
  inline static char multiply_, shared_user_, scale_, counter_;
  inline static void* shown_ = nullptr;
};

TEST_F(Cudart, RunsAKernelWithSymbolsAndCopies) {
  float* memory = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&memory), 400), kSuccess);
  std::vector<float> host(50), back(50);
  for (int i = 0; i < 50; ++i) host[static_cast<std::size_t>(i)] = static_cast<float>(i);
  const float scale = 1.5f;
  ASSERT_EQ(cudaMemcpyToSymbol(&scale_, &scale, 4, 0, kHostToDevice), kSuccess);
  ASSERT_EQ(cudaMemcpy(memory, host.data(), 200, kHostToDevice), kSuccess);
  ASSERT_EQ(launch(&multiply_, {2}, {32}, 0, memory + 50, 50, memory), kSuccess);
  ASSERT_EQ(cudaMemcpy(back.data(), memory + 50, 200, kDeviceToHost), kSuccess);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(back[static_cast<std::size_t>(i)], 1.5f * static_cast<float>(i));
  const auto report = take_report();
  ASSERT_EQ(report.size(), 1u);
  EXPECT_EQ(report[0].at("event"), "launch");
  EXPECT_EQ(report[0].at("kernel"), "multiply");
  EXPECT_EQ(report[0].at("grid"), Json::array({2, 1, 1}));
  EXPECT_TRUE(report[0].at("findings").empty()) << report[0];
  EXPECT_EQ(report[0].at("counters").at("flops_fp32"), 50);
  EXPECT_EQ(cudaFree(memory), kSuccess);
}

TEST_F(Cudart, LaunchesThroughTheConfigurationOfTripleBrackets) {
  void* kernel = nullptr;
  ASSERT_EQ(__cudaGetKernel(&kernel, &shared_user_), kSuccess);
  EXPECT_EQ(__cudaPushCallConfiguration({3, 2, 1}, {64, 1, 1}, 16, nullptr), 0u);
  vgpu::Dim3 grid, block;
  std::size_t shared = 0;
  void* stream = &shared;
  ASSERT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), kSuccess);
  EXPECT_EQ(grid, (vgpu::Dim3{3, 2, 1}));
  EXPECT_EQ(shared, 16u);
  EXPECT_EQ(stream, nullptr);
  EXPECT_EQ(__cudaLaunchKernel(kernel, grid, {1, 1, 1}, nullptr, shared, stream), kSuccess);
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), kMissingConfiguration);
  char unknown = 0;
  EXPECT_EQ(__cudaGetKernel(&kernel, &unknown), kInvalidDeviceFunction);
  EXPECT_EQ(cudaLaunchKernel(&unknown, {1}, {1}, nullptr, 0, nullptr), kInvalidDeviceFunction);
}

TEST_F(Cudart, VariablesOfTheDevice) {
  int value = 0;
  EXPECT_EQ(cudaMemcpyFromSymbol(&value, &counter_, 4, 0, kDeviceToHost), kSuccess);
  EXPECT_EQ(value, 5);
  std::size_t bytes = 0;
  EXPECT_EQ(cudaGetSymbolSize(&bytes, &counter_), kSuccess);
  EXPECT_EQ(bytes, 4u);
  EXPECT_EQ(cudaMemcpyFromSymbol(&value, &counter_, 4, 2, kDeviceToHost), kInvalidValue);
  EXPECT_EQ(cudaMemcpyFromSymbol(&value, &value, 4, 0, kDeviceToHost), kInvalidSymbol);
  ASSERT_NE(shown_, nullptr);
  EXPECT_EQ(*static_cast<int*>(shown_), 7) << "the host reads a managed variable directly";
}

TEST_F(Cudart, AFaultIsStickyUntilReset) {
  ASSERT_EQ(launch(&multiply_, {1}, {32}, 0, nullptr, 32, nullptr), kSuccess) << "as on a GPU, it shows later";
  EXPECT_EQ(cudaDeviceSynchronize(), kIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), kIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), kIllegalAddress);
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 4), kIllegalAddress);
  const auto report = take_report();
  ASSERT_FALSE(report.empty());
  EXPECT_EQ(report[0].at("findings").at(0).at("kind"), "out_of_bounds") << report[0];
  EXPECT_EQ(cudaDeviceReset(), kSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), kSuccess);
}

TEST_F(Cudart, LaunchLimits) {
  const auto refused = [&](vgpu::Dim3 grid, vgpu::Dim3 block, std::size_t shared) {
    const int code = cudaLaunchKernel(&shared_user_, grid, block, nullptr, shared, nullptr);
    EXPECT_EQ(cudaPeekAtLastError(), code);
    EXPECT_EQ(cudaGetLastError(), code);
    EXPECT_EQ(cudaGetLastError(), kSuccess) << "it is not sticky";
    const auto report = take_report();
    EXPECT_FALSE(report.empty());
    if (!report.empty()) {
      EXPECT_EQ(report[0].at("finding").at("kind"), "launch_limit");
    }
    return code;
  };
  EXPECT_EQ(refused({1}, {1025}, 0), kInvalidConfiguration);
  EXPECT_EQ(refused({1}, {1, 1, 65}, 0), kInvalidConfiguration);
  EXPECT_EQ(refused({0}, {1}, 0), kInvalidConfiguration);
  EXPECT_EQ(refused({1, 65536}, {1}, 0), kInvalidConfiguration);
  EXPECT_EQ(refused({1}, {1}, 48 * 1024), kInvalidValue) << "with the static kilobyte it is above 48 KB";
  EXPECT_EQ(cudaFuncSetAttribute(&shared_user_, kMaxDynamicShared, 163 * 1024), kInvalidValue);
  EXPECT_EQ(cudaGetLastError(), kInvalidValue);
  take_report();
  EXPECT_EQ(cudaFuncSetAttribute(&shared_user_, kMaxDynamicShared, 100 * 1024), kSuccess);
  EXPECT_EQ(cudaLaunchKernel(&shared_user_, {1}, {1}, nullptr, 100 * 1024, nullptr), kSuccess);
  take_report();
  EXPECT_EQ(refused({1}, {1}, 200 * 1024), kInvalidValue);
  EXPECT_EQ(cudaLaunchCooperativeKernel(&shared_user_, {108 * 32}, {32}, nullptr, 0, nullptr), kSuccess);
  EXPECT_EQ(cudaLaunchCooperativeKernel(&shared_user_, {108 * 32 + 1}, {32}, nullptr, 0, nullptr), kCooperativeLaunchTooLarge);
  LaunchAttribute cluster{};
  cluster.id = kAttributeClusterDimension;
  cluster.value.cluster = {2, 1, 1};
  const LaunchConfig config{{2, 1, 1}, {32, 1, 1}, 0, nullptr, &cluster, 1};
  EXPECT_EQ(cudaLaunchKernelExC(&config, &shared_user_, nullptr), kNotSupported) << "an A100 has no clusters";
  cudaGetLastError();
}

TEST_F(Cudart, CopiesStayInsideAllocationsAndGoTheRightWay) {
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 64), kSuccess);
  char host[128] = {};
  EXPECT_EQ(cudaMemcpy(memory, host, 65, kHostToDevice), kInvalidValue);
  EXPECT_EQ(cudaMemcpy(host, static_cast<char*>(memory) + 60, 5, kDeviceToHost), kInvalidValue);
  EXPECT_EQ(cudaMemcpy(host, memory, 8, kHostToHost), kInvalidValue);
  EXPECT_EQ(cudaMemcpy(host, host + 64, 8, kDeviceToHost), kInvalidValue);
  EXPECT_EQ(cudaMemcpy(host, memory, 8, 9), kInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpy(host, memory, 64, kByAddress), kSuccess);
  EXPECT_EQ(cudaMemset(memory, 1, 65), kInvalidValue);
  EXPECT_EQ(cudaFree(static_cast<char*>(memory) + 8), kInvalidValue);
  EXPECT_EQ(cudaFree(memory), kSuccess);
  EXPECT_EQ(cudaFree(memory), kInvalidValue);
  EXPECT_EQ(cudaFree(nullptr), kSuccess);
  const auto report = take_report();
  EXPECT_EQ(report.size(), 7u);
  EXPECT_EQ(report.back().at("finding").at("kind"), "invalid_free");
  cudaGetLastError();
}

TEST_F(Cudart, RowsAndLayers) {
  const float rows[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
  PitchedPtr volume{};
  ASSERT_EQ(cudaMalloc3D(&volume, {16, 3, 2}), kSuccess);
  EXPECT_EQ(volume.pitch % 512, 0u);
  EXPECT_EQ(cudaMemcpy2D(volume.ptr, volume.pitch, rows, 16, 16, 3, kHostToDevice), kSuccess);
  float back[3][4] = {};
  Copy3D copy{};
  copy.source = volume;
  copy.target = {back, 16, 16, 3};
  copy.extent = {16, 3, 1};
  copy.kind = kDeviceToHost;
  EXPECT_EQ(cudaMemcpy3D(&copy), kSuccess);
  EXPECT_EQ(std::memcmp(rows, back, sizeof rows), 0);
  EXPECT_EQ(cudaMemcpy2D(volume.ptr, 8, rows, 16, 16, 3, kHostToDevice), kInvalidPitchValue);
  EXPECT_EQ(cudaFree(volume.ptr), kSuccess);
  cudaGetLastError();
}

TEST_F(Cudart, KindsOfMemory) {
  void *device = nullptr, *managed = nullptr, *pinned = nullptr;
  int plain = 0;
  ASSERT_EQ(cudaMalloc(&device, 16), kSuccess);
  ASSERT_EQ(cudaMallocManaged(&managed, 16, 1), kSuccess);
  ASSERT_EQ(cudaMallocHost(&pinned, 16), kSuccess);
  const auto type = [](const void* pointer) {
    PointerAttributes attributes{};
    EXPECT_EQ(cudaPointerGetAttributes(&attributes, pointer), kSuccess);
    return attributes.type;
  };
  EXPECT_EQ(type(device), kDeviceMemory);
  EXPECT_EQ(type(static_cast<char*>(managed) + 15), kManagedMemory);
  EXPECT_EQ(type(pinned), kHostMemory);
  EXPECT_EQ(type(&plain), kUnregistered);
  EXPECT_EQ(cudaHostRegister(&plain, 4, 0), kSuccess);
  EXPECT_EQ(type(&plain), kHostMemory);
  EXPECT_EQ(cudaHostRegister(&plain, 4, 0), kHostMemoryAlreadyRegistered);
  EXPECT_EQ(cudaHostUnregister(&plain), kSuccess);
  EXPECT_EQ(cudaHostUnregister(&plain), kHostMemoryNotRegistered);
  // A kernel reads and writes what belongs to the host.
  static_cast<float*>(pinned)[0] = 4;
  const float scale = 0.5f;
  ASSERT_EQ(cudaMemcpyToSymbol(&scale_, &scale, 4, 0, kHostToDevice), kSuccess);
  ASSERT_EQ(launch(&multiply_, {1}, {1}, 0, managed, 1, pinned), kSuccess);
  EXPECT_EQ(static_cast<float*>(managed)[0], 2);
  EXPECT_EQ(cudaFree(managed), kSuccess);
  EXPECT_EQ(cudaFreeHost(pinned), kSuccess);
  EXPECT_EQ(cudaFree(device), kSuccess);
}

TEST_F(Cudart, StreamsAndEvents) {
  void *stream = nullptr, *start = nullptr, *end = nullptr, *untimed = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), kSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&start, 0), kSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&end, 0), kSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&untimed, 2), kSuccess);
  float milliseconds = -1;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), kInvalidResourceHandle) << "nothing was recorded";
  EXPECT_EQ(cudaEventRecord(start, stream), kSuccess);
  EXPECT_EQ(cudaEventRecord(end, nullptr), kSuccess);
  EXPECT_EQ(cudaEventRecord(untimed, stream), kSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), kSuccess);
  EXPECT_GE(milliseconds, 0);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, untimed), kInvalidResourceHandle);
  EXPECT_EQ(cudaStreamSynchronize(stream), kSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), kSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), kInvalidResourceHandle);
  EXPECT_EQ(cudaMemcpyAsync(nullptr, nullptr, 0, kHostToHost, stream), kInvalidResourceHandle);
  for (void* event : {start, end, untimed}) EXPECT_EQ(cudaEventDestroy(event), kSuccess);
  EXPECT_EQ(cudaEventRecord(start, nullptr), kInvalidResourceHandle);
  cudaGetLastError();
}

TEST_F(Cudart, TheDeviceIsTheDataSheet) {
  DeviceProperties properties{};
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), kSuccess);
  EXPECT_NE(std::string(properties.name).find("A100"), std::string::npos);
  EXPECT_NE(std::string(properties.name).find("virtual"), std::string::npos);
  EXPECT_EQ(properties.sm_count, 108);
  EXPECT_EQ(properties.shared_per_block_optin, 163u * 1024);
  int value = 0;
  EXPECT_EQ(cudaDeviceGetAttribute(&value, 16, 0), kSuccess);
  EXPECT_EQ(value, 108);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, 97, 0), kSuccess);
  EXPECT_EQ(value, 163 * 1024);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, 9999, 0), kInvalidValue);
  EXPECT_EQ(cudaSetDevice(1), kInvalidDevice);
  FunctionAttributes attributes{};
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, &shared_user_), kSuccess);
  EXPECT_EQ(attributes.shared_bytes, 1024u);
  int blocks = 0;
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &shared_user_, 1024, 0), kSuccess);
  EXPECT_EQ(blocks, 2);
  cudaGetLastError();
}

TEST_F(Cudart, ErrorsHaveNamesAndWords) {
  EXPECT_STREQ(cudaGetErrorName(kIllegalAddress), "cudaErrorIllegalAddress");
  EXPECT_STREQ(cudaGetErrorString(kSuccess), "no error");
  EXPECT_STREQ(cudaGetErrorString(12345), "unrecognized error code");
  void* graph = nullptr;
  EXPECT_EQ(cudaGraphCreate(&graph, 0), kNotSupported);
  EXPECT_EQ(cudaGetLastError(), kNotSupported);
}

}  // namespace
}  // namespace kw::cudart
