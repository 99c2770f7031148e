#include "vgpu/launch_counters.h"

#include <algorithm>

#include "vgpu/exec.h"

namespace kw::vgpu {

namespace {

Counters counted_by(const Launch& launch, const std::vector<Worker>& workers) {
  Counters counters;
  const Module& module = *launch.module;
  std::map<std::pair<int, int>, LineCounters> lines;  // file and line
  for (std::size_t i = 0; i < module.code.size(); ++i) {
    const Instruction& instruction = module.code[i];
    if (instruction.exec == exec_join) continue;  // no instruction of a GPU
    LineCounters own;
    std::uint64_t issued = 0, lanes = 0;
    const bool has_slot = instruction.pipe == Pipe::memory || instruction.pipe == Pipe::control;
    for (const Worker& worker : workers) {
      issued += worker.counts[i].issued;
      lanes += worker.counts[i].lanes;
      if (has_slot && worker.counts[i].issued != 0) own.add(worker.slots[instruction.slot]);
    }
    if (issued == 0) continue;
    own.issued[static_cast<std::size_t>(instruction.pipe)] += issued;
    own.warp_instructions += issued;
    own.lane_instructions += lanes;
    const std::uint64_t flops = static_cast<std::uint64_t>(instruction.flops);
    switch (instruction.pipe) {
      case Pipe::fp32:
        own.flops_fp32 += flops * lanes;
        break;
      case Pipe::fp64:
        own.flops_fp64 += flops * lanes;
        break;
      case Pipe::fp16:
        own.flops_fp16 += flops * lanes;
        break;
      case Pipe::tensor:
        own.flops_tensor += flops * issued;
        break;
      case Pipe::special:
        own.special_functions += lanes;
        break;
      case Pipe::memory:
        own.flops_fp32 += flops * lanes;
        break;
      default:
        break;
    }
    std::pair<int, int> where{0, 0};
    if (instruction.source >= 0) {
      const SourceLine& line = module.parsed->source_lines[static_cast<std::size_t>(instruction.source)];
      where = {line.file, line.line};
    }
    lines[where].add(own);
    counters.add(own);
  }
  for (const auto& [where, line] : lines) {
    const auto file = module.parsed->files.find(where.first);
    counters.lines[{file == module.parsed->files.end() ? std::string() : file->second, where.second}].add(line);
  }
  for (const Worker& worker : workers) counters.blocks += worker.blocks;
  return counters;
}

}  // namespace

Counters launch_counters(const Launch& launch, const std::vector<Worker>& in_order, const std::vector<Worker>& spread) {
  Counters first = counted_by(launch, in_order), rest = counted_by(launch, spread);
  const auto blocks = static_cast<double>(launch.block_count);
  if (first.blocks + rest.blocks < launch.block_count) {
    // Blocks that only wait for others which the sample leaves out have not done their work.
    if (launch.waits || rest.blocks == 0) {
      rest = {};
      first.scale_all(blocks / static_cast<double>(std::max<std::uint64_t>(first.blocks, 1)));
    } else {
      rest.scale_all((blocks - static_cast<double>(first.blocks)) / static_cast<double>(rest.blocks));
    }
  }
  first.add(rest);
  for (const auto& [place, line] : rest.lines) first.lines[place].add(line);
  first.blocks = launch.block_count;
  first.warps = first.blocks * launch.warps;
  first.threads = first.blocks * launch.threads;
  return first;
}

}  // namespace kw::vgpu
