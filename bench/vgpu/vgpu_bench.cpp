// How fast the virtual GPU is: lane-instructions a second for arithmetic-heavy and memory-bound PTX, with checks off and on, and a
// tensor-core product of 512x512x512.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "vgpu/device.h"

namespace {

using namespace kw::vgpu;

// 256 turns of 32 instructions that only compute.
std::string arithmetic_ptx() {
  std::string body;
  for (int i = 0; i < 8; ++i) {
    body += fmt::format(
        "  fma.rn.f32 %f{0}, %f{0}, %f8, %f9;\n  mad.lo.s32 %r{0}, %r{0}, %r8, %r9;\n  add.f32 %f{0}, %f{0}, %f9;\n  xor.b32 "
        "%r{0}, %r{0}, %r9;\n",
        i);
  }
  return fmt::format(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry work(.param .u64 out) {{
  .reg .pred %p1; .reg .f32 %f<10>; .reg .b32 %r<14>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r10, %tid.x; mov.u32 %r12, %ctaid.x; mov.u32 %r13, %ntid.x;
  mad.lo.u32 %r10, %r12, %r13, %r10;
  mov.u32 %r11, 0;
  mov.u32 %r8, 3; mov.u32 %r9, 7;
  mov.f32 %f8, 0f3F7FFFFF; mov.f32 %f9, 0f3A83126F;
LOOP:
{}  add.u32 %r11, %r11, 1;
  setp.lt.u32 %p1, %r11, 256;
  @%p1 bra LOOP;
  mul.wide.u32 %rd2, %r10, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.f32 [%rd3], %f0;
  ret;
}})",
                     body);
}

constexpr const char* kCopyPtx = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry work(.param .u64 from, .param .u64 to) {
  .reg .f32 %f<10>; .reg .b32 %r<14>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  mul.wide.u32 %rd3, %r4, 4;
  add.u64 %rd4, %rd1, %rd3;
  add.u64 %rd5, %rd2, %rd3;
  ld.global.f32 %f1, [%rd4];
  add.f32 %f2, %f1, %f1;
  st.global.f32 [%rd5], %f2;
  ret;
})";

// A warp computes 16x8 of c = a b with k in steps of 16: a is 512x512, row by row; b column by column; both of halves.
constexpr const char* kProductPtx = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry work(.param .u64 a, .param .u64 b, .param .u64 c) {
  .reg .pred %p1; .reg .f32 %f<5>; .reg .b32 %r<30>; .reg .b64 %rd<20>;
  ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c];
  mov.u32 %r1, %laneid; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ctaid.y; mov.u32 %r4, %tid.y;
  shr.u32 %r5, %r1, 2; and.b32 %r6, %r1, 3;
  shl.b32 %r7, %r3, 4; add.u32 %r7, %r7, %r5;
  shl.b32 %r8, %r2, 2; add.u32 %r8, %r8, %r4; shl.b32 %r8, %r8, 3; add.u32 %r9, %r8, %r5;
  shl.b32 %r10, %r6, 2;
  mad.lo.u32 %r11, %r7, 1024, %r10; mad.lo.u32 %r12, %r9, 1024, %r10;
  cvt.u64.u32 %rd4, %r11; add.u64 %rd5, %rd1, %rd4;
  cvt.u64.u32 %rd6, %r12; add.u64 %rd7, %rd2, %rd6;
  mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
  mov.u32 %r20, 0;
LOOP:
  ld.global.b32 %r13, [%rd5]; ld.global.b32 %r14, [%rd5+8192]; ld.global.b32 %r15, [%rd5+16]; ld.global.b32 %r16, [%rd5+8208];
  ld.global.b32 %r17, [%rd7]; ld.global.b32 %r18, [%rd7+16];
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r13,%r14,%r15,%r16}, {%r17,%r18}, {%f0,%f1,%f2,%f3};
  add.u64 %rd5, %rd5, 32; add.u64 %rd7, %rd7, 32;
  add.u32 %r20, %r20, 16; setp.lt.u32 %p1, %r20, 512;
  @%p1 bra LOOP;
  shl.b32 %r21, %r6, 1; add.u32 %r22, %r8, %r21;
  mad.lo.u32 %r23, %r7, 512, %r22;
  mul.wide.u32 %rd8, %r23, 4; add.u64 %rd9, %rd3, %rd8;
  st.global.v2.f32 [%rd9], {%f0, %f1};
  st.global.v2.f32 [%rd9+16384], {%f2, %f3};
  ret;
})";

struct Case {
  const char* name;
  std::string ptx;
  Dim3 grid, block;
  std::vector<std::size_t> buffers;  // bytes
};

void measure(const Case& row, bool checks, bool counters) {
  DeviceOptions options;
  options.checks = checks;
  options.counters = counters;
  Device device(options);
  auto module = device.load(row.ptx, row.name);
  if (!module.ok()) {
    fmt::print("{}: {}\n", row.name, module.error().message);
    return;
  }
  std::vector<std::byte> params;
  for (const std::size_t bytes : row.buffers) {
    auto memory = device.allocate(bytes, "buffer");
    if (!memory.ok()) return;
    std::memset(*memory, 0, bytes);
    device.note_host_write(*memory, bytes);
    params.resize(params.size() + 8);
    std::memcpy(params.data() + params.size() - 8, &*memory, 8);
  }
  const Function* kernel = *device.kernel(**module, "work");
  // Counted once; then timed, the best of five.
  device.mutable_options().counters = true;
  auto counted = device.launch(*kernel, row.grid, row.block, 0, params);
  if (!counted.ok()) return;
  for (const Finding& finding : counted->findings) fmt::print("  {}: {}\n", finding.kind, finding.message);
  const auto lanes = static_cast<double>(counted->counters.lane_instructions);
  device.mutable_options().counters = counters;
  double best = 1e30, best_work = 1e30;
  for (int i = 0; i < 5; ++i) {
    const std::clock_t before = std::clock();
    auto report = device.launch(*kernel, row.grid, row.block, 0, params);
    // What the processors worked, whatever else ran on them: on a busy machine the only number that says something.
    best_work = std::min(best_work, static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC);
    if (report.ok()) best = std::min(best, report->seconds);
  }
  fmt::print("{:<22} checks {:<3} counters {:<3} {:8.4f} s  {:7.3f}e9 lane-instructions/s, {:7.3f}e9 a core\n", row.name,
             checks ? "on" : "off", counters ? "on" : "off", best, lanes / best / 1e9, lanes / best_work / 1e9);
}

}  // namespace

int main() {
  const Case cases[] = {
      {"arithmetic", arithmetic_ptx(), {64}, {256}, {64 * 256 * 4}},
      {"copy", kCopyPtx, {4096}, {256}, {4096 * 256 * 4, 4096 * 256 * 4}},
      {"tensor cores 512^3", kProductPtx, {16, 32}, {32, 4}, {512 * 512 * 2, 512 * 512 * 2, 512 * 512 * 4}},
  };
  for (const Case& row : cases) {
    measure(row, false, false);
    measure(row, true, false);
    measure(row, true, true);
  }
  return 0;
}
