#include "vgpu/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace kw::vgpu {

void Launch::report(std::string_view kind, const Warp& warp, const Instruction& instruction, int lane, std::string message,
                    std::string allocation, bool fatal) {
  const auto where =
      static_cast<std::uint32_t>(&instruction >= module->code.data() && &instruction < module->code.data() + module->code.size()
                                     ? &instruction - module->code.data()
                                     : warp.pc - 1);
  const std::lock_guard lock(mutex);
  const int line = module->line_of(instruction.source);
  const std::uint32_t key = line > 0 ? static_cast<std::uint32_t>(line) | 0x80000000u : where;
  const auto [found, fresh] = findings.try_emplace({std::string(kind), key});
  Finding& finding = found->second;
  if (!fresh) {
    ++finding.count;
  } else {
    finding.kind = std::string(kind);
    finding.message = std::move(message);
    finding.kernel = function->name;
    finding.file = module->file_of(instruction.source);
    finding.line = line;
    finding.ptx_line = instruction.line;
    finding.block = warp.block->index;
    finding.thread = thread_of(*this, warp, lane);
    finding.allocation = std::move(allocation);
    finding.fatal = fatal;
  }
  if (fatal) stop = true;
}

bool Launch::past_deadline(const Warp& warp) {
  if (!has_deadline || std::chrono::steady_clock::now() < deadline) return false;
  const Instruction& instruction = module->code[std::min<std::size_t>(warp.pc, module->code.size() - 1)];
  report("timeout", warp, instruction, warp.active == 0 ? 0 : std::countr_zero(warp.active),
         fmt::format("the launch has taken longer than {} s; this is where one of its warps was", options.launch_deadline_seconds),
         {}, true);
  return true;
}

}  // namespace kw::vgpu
