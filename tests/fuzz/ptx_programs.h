// Random PTX for a Device: texts and programs that are valid by construction. Each ends with an Error or a report, never with a
// crash or a hang.
#pragma once

#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/device.h"

namespace kw::vgpu::fuzz {

inline constexpr std::uint32_t kBufferBytes = 4096;

inline DeviceOptions fuzz_options() {
  DeviceOptions options;
  options.threads = 1;
  options.launch_deadline_seconds = 0.02;  // endless programs are common here
  options.limits.global_bytes = 64U << 20;
  return options;
}

// Launches all kernels with a buffer as first parameter and zeros behind it.
inline std::string launch_all(Device& device, const Module& module, std::uint32_t threads) {
  auto buffer = device.allocate(kBufferBytes, "buffer");
  if (!buffer) return "no memory for the buffer: " + buffer.error().message;
  std::memset(*buffer, 1, kBufferBytes);
  device.note_host_write(*buffer, kBufferBytes);
  int launches = 0;
  for (const Function* function : device.kernels(module)) {
    const auto facts = device.facts(*function);
    if (facts.param_bytes > (1U << 16) || ++launches > 4) continue;
    std::vector<std::byte> params(facts.param_bytes);
    if (params.size() >= sizeof(*buffer)) std::memcpy(params.data(), &*buffer, sizeof(*buffer));
    const auto report = device.launch(*function, {2, 1, 1}, {threads, 1, 1}, 0, params);
    if (!report && report.error().message.empty()) return "a launch failed without a word";
  }
  return device.release(*buffer) ? "" : "the buffer can't be released";
}

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}
  [[nodiscard]] bool empty() const { return at_ == end_; }
  unsigned next(unsigned below) { return empty() ? 0 : *at_++ % below; }

 private:
  const std::uint8_t *at_, *end_;
};

// $ is replaced by a number of a register, # by a small immediate, @ by a label.
inline constexpr std::string_view kStatements[] = {
    "add.f32 %f$, %f$, %f$;",
    "fma.rn.f32 %f$, %f$, %f$, %f$;",
    "mul.rz.ftz.f32 %f$, %f$, %f$;",
    "div.rn.f32 %f$, %f$, %f$;",
    "min.NaN.f32 %f$, %f$, %f$;",
    "ex2.approx.f32 %f$, %f$;",
    "sin.approx.f32 %f$, %f$;",
    "rsqrt.approx.f32 %f$, %f$;",
    "tanh.approx.f32 %f$, %f$;",
    "cvt.rzi.s32.f32 %r$, %f$;",
    "cvt.rn.f32.s32 %f$, %r$;",
    "cvt.rn.f16x2.f32 %r$, %f$, %f$;",
    "cvt.f64.f32 %g$, %f$;",
    "cvt.rp.f32.f64 %f$, %g$;",
    "add.rm.f64 %g$, %g$, %g$;",
    "fma.rz.f64 %g$, %g$, %g$, %g$;",
    "sqrt.rn.f64 %g$, %g$;",
    "div.rp.f64 %g$, %g$, %g$;",
    "add.s32 %r$, %r$, %r$;",
    "mad.lo.s32 %r$, %r$, %r$, %r$;",
    "mul.wide.u32 %d$, %r$, %r$;",
    "div.s32 %r$, %r$, %r$;",
    "rem.u64 %d$, %d$, %d$;",
    "shl.b32 %r$, %r$, %r$;",
    "shr.s64 %d$, %d$, %r$;",
    "bfe.s32 %r$, %r$, %r$, %r$;",
    "bfi.b32 %r$, %r$, %r$, %r$, %r$;",
    "prmt.b32 %r$, %r$, %r$, %r$;",
    "lop3.b32 %r$, %r$, %r$, %r$, #;",
    "shf.l.wrap.b32 %r$, %r$, %r$, %r$;",
    "popc.b32 %r$, %r$;",
    "fma.rn.f16x2 %r$, %r$, %r$, %r$;",
    "add.bf16x2 %r$, %r$, %r$;",
    "dp4a.s32.u32 %r$, %r$, %r$, %r$;",
    "add.cc.u32 %r$, %r$, %r$;",
    "addc.u32 %r$, %r$, %r$;",
    "setp.lt.s32 %p$, %r$, %r$;",
    "setp.geu.f32 %p$, %f$, %f$;",
    "setp.ne.and.b32 %p$|%p$, %r$, #, %p$;",
    "selp.b32 %r$, %r$, %r$, %p$;",
    "and.pred %p$, %p$, %p$;",
    "@%p$ bra L@;",
    "@!%p$ bra L@;",
    "bra L@;",
    "@%p$ add.f32 %f$, %f$, %f$;",
    "@!%p$ mov.u32 %r$, %tid.x;",
    "mov.u32 %r$, %laneid;",
    "mov.u32 %r$, #;",
    "ld.global.b32 %r$, [%d8+#];",
    "st.global.b32 [%d8+#], %r$;",
    "and.b32 %r9, %r$, 4092; cvt.u64.u32 %d9, %r9; add.u64 %d9, %d8, %d9; ld.global.b32 %r$, [%d9];",
    "and.b32 %r9, %r$, 4092; cvt.u64.u32 %d9, %r9; add.u64 %d9, %d8, %d9; st.global.b32 [%d9], %r$;",
    "and.b32 %r9, %r$, 252; mov.u32 %r8, shared; add.u32 %r9, %r8, %r9; st.shared.b32 [%r9], %r$;",
    "and.b32 %r9, %r$, 252; mov.u32 %r8, shared; add.u32 %r9, %r8, %r9; ld.shared.b32 %r$, [%r9];",
    "ld.global.b64 %d$, [%d$];",
    "st.shared.b32 [%r$], %r$;",
    "atom.global.add.u32 %r$, [%d8], %r$;",
    "shfl.sync.bfly.b32 %r$|%p$, %r$, #, 31, -1;",
    "vote.sync.ballot.b32 %r$, %p$, -1;",
    "bar.sync 0;",
    "membar.gl;",
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r$,%r$}, {%r$}, {%f4,%f5,%f6,%f7};",
    "activemask.b32 %r$;",
    "exit;"};

inline std::string random_program(Bytes bytes) {
  std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .pred %p<8>;\n.reg .b32 "
      "%r<10>;\n.reg .f32 %f<8>;\n"
      ".reg .f64 %g<8>;\n.reg .b64 %d<10>;\n.shared .align 16 .b8 shared[256];\nld.param.u64 %d8, [p];\n";
  for (int i = 0; i < 8; ++i) {
    const std::string n = std::to_string(i);
    text += "mov.u32 %r" + n + ", " + std::to_string(i * 77) + ";\ncvt.rn.f32.u32 %f" + n + ", %r" + n + ";\ncvt.f64.f32 %g" + n +
            ", %f" + n + ";\ncvt.u64.u32 %d" + n + ", %r" + n + ";\nsetp.gt.u32 %p" + n + ", %r" + n + ", 200;\n";
  }
  constexpr unsigned kMost = 64;
  for (unsigned i = 0; i < kMost; ++i) {
    text += "L" + std::to_string(i) + ":\n";
    if (bytes.empty()) continue;
    for (const char c : kStatements[bytes.next(std::size(kStatements))]) {
      if (c == '$')
        text += std::to_string(bytes.next(8));
      else if (c == '#')
        text += std::to_string(4 * bytes.next(64));
      else if (c == '@' && text.ends_with('L'))
        text += std::to_string(bytes.next(kMost));
      else
        text += c;
    }
    text += '\n';
  }
  return text + "ret;\n}\n";
}

// One input: text to load, or a recipe for a program. The error says what must not be; empty where all is well.
inline std::string try_ptx(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return {};
  Device device(fuzz_options());
  device.set_printf_sink([](std::string_view) {});
  // Text begins with a dot, as modules do; what begins with an odd byte is a recipe.
  const bool recipe = (data[0] & 1) != 0;
  const std::string program =
      recipe ? random_program(Bytes(data + 1, size - 1)) : std::string(reinterpret_cast<const char*>(data), size);
  const auto module = device.load(program, "fuzz");
  if (!module) {
    if (recipe) return "a valid program was refused: " + module.error().message + "\n" + program;
    return module.error().message.empty() ? "refused without a word" : "";
  }
  return launch_all(device, **module, recipe ? 64 : 32);
}

}  // namespace kw::vgpu::fuzz
