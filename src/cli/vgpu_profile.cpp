#include "cli/vgpu_profile.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <tuple>

#include <fmt/format.h>
#include "base/demangle.h"

namespace kw {
namespace {

using vgpu::Counters;
using vgpu::Estimate;
using vgpu::LaunchRecord;
using vgpu::LineCounters;

struct KernelProfile {
  LaunchRecord first;
  int launches = 0;
  Counters counters;  // of all
  Estimate estimate;  // of one launch, the average
};

std::uint64_t volume(const vgpu::Dim3& dim) { return std::uint64_t{dim.x} * dim.y * dim.z; }

std::string shape_text(const vgpu::Dim3& dim) { return fmt::format("{}x{}x{}", dim.x, dim.y, dim.z); }

double per(std::uint64_t count, std::uint64_t of) { return of == 0 ? 0 : static_cast<double>(count) / static_cast<double>(of); }

LineCounters average_of(const LineCounters& all, int launches) {
  LineCounters average = all;
  const auto part = static_cast<std::uint64_t>(launches);
  Json json = average;
  for (auto& [name, value] : json.items()) {
    if (value.is_number_unsigned()) value = value.get<std::uint64_t>() / part;
    if (value.is_object())
      for (auto& [pipe, count] : value.items()) count = count.get<std::uint64_t>() / part;
  }
  average = {};
  from_json(json, average);
  return average;
}

std::vector<KernelProfile> profiles_of(const vgpu::GpuSheet& sheet, const vgpu::ProgramReport& report) {
  std::vector<KernelProfile> profiles;
  std::map<std::tuple<std::string, std::string, std::string, std::uint32_t>, std::size_t> places;
  for (const LaunchRecord& launch : report.launches) {
    const auto key = std::make_tuple(launch.kernel, shape_text(launch.grid), shape_text(launch.block), launch.dynamic_shared);
    const auto [place, is_new] = places.try_emplace(key, profiles.size());
    if (is_new) {
      profiles.emplace_back();
      profiles.back().first = launch;
    }
    KernelProfile& profile = profiles[place->second];
    ++profile.launches;
    const Counters& counters = launch.report.counters;
    profile.counters.add(counters);
    profile.counters.blocks += counters.blocks;
    profile.counters.warps += counters.warps;
    profile.counters.threads += counters.threads;
    for (const auto& [where, line] : counters.lines) profile.counters.lines[where].add(line);
  }
  for (KernelProfile& profile : profiles) {
    vgpu::LaunchShape shape;
    shape.blocks = volume(profile.first.grid);
    shape.threads_per_block = static_cast<int>(volume(profile.first.block));
    shape.registers = profile.first.registers;
    shape.shared = profile.first.dynamic_shared + profile.first.static_shared;
    shape.tensor_kind = profile.first.tensor_kind;
    profile.estimate = vgpu::estimate_launch(sheet, average_of(profile.counters, profile.launches), shape);
  }
  return profiles;
}

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.2f} ms", seconds * 1e3) : fmt::format("{:.2f} s", seconds);
}

std::string global_text(const char* what, std::uint64_t requests, std::uint64_t sectors, std::uint64_t bytes) {
  if (requests == 0) return {};
  return fmt::format("  {:<16}{} requests, {:.1f} sectors each, {:.0f}% of their bytes used\n", what, requests,
                     per(sectors, requests), 100 * per(bytes, sectors * 32));
}

std::string counters_text(const Counters& c) {
  std::string text = fmt::format("  instructions    {} of warps, {:.1f} of 32 lanes active\n", c.warp_instructions,
                                 per(c.lane_instructions, c.warp_instructions));
  if (c.flops_fp32 + c.flops_fp64 + c.flops_fp16 + c.flops_tensor > 0)
    text += fmt::format("  flops           fp32 {}, fp64 {}, fp16 {}, tensor {}\n", c.flops_fp32, c.flops_fp64, c.flops_fp16,
                        c.flops_tensor);
  text += global_text("global loads", c.global_load_requests, c.global_load_sectors, c.global_load_bytes);
  text += global_text("global stores", c.global_store_requests, c.global_store_sectors, c.global_store_bytes);
  if (c.l1_hits + c.l1_misses > 0)
    text += fmt::format("  caches (model)  L1 {:.0f}% hits, L2 {:.0f}% hits, {} bytes from memory\n",
                        100 * per(c.l1_hits, c.l1_hits + c.l1_misses), 100 * per(c.l2_hits, c.l2_hits + c.l2_misses), c.dram_bytes);
  if (c.shared_load_requests + c.shared_store_requests > 0)
    text += fmt::format("  shared memory   {} loads, {} stores, {} passes, {} of them for bank conflicts\n", c.shared_load_requests,
                        c.shared_store_requests, c.shared_wavefronts, c.shared_conflicts);
  if (c.local_requests > 0) text += fmt::format("  local memory    {} requests, {} bytes\n", c.local_requests, c.local_bytes);
  if (c.atomics > 0) text += fmt::format("  atomics         {} of warps, {} of lanes\n", c.atomics, c.atomic_lanes);
  if (c.barriers > 0) text += fmt::format("  barriers        {} arrivals of warps\n", c.barriers);
  if (c.branches > 0) text += fmt::format("  branches        {}, {} of them divergent\n", c.branches, c.divergent_branches);
  return text;
}

std::string estimate_text(const vgpu::GpuSheet& sheet, const Estimate& e) {
  std::string text = fmt::format(
      "  estimate        {} a launch on {}, limited by {}; {:.0f}% of the speed of light (an estimate, not a measurement)\n",
      time_text(e.seconds), sheet.name, e.limiting, 100 * e.share_of_speed_of_light);
  text += "                  ";
  for (std::size_t i = 0; i < std::min<std::size_t>(e.resources.size(), 6); ++i)
    text += fmt::format("{}{} {:.0f}%", i == 0 ? "" : ", ", e.resources[i].resource, 100 * e.resources[i].share);
  text += fmt::format("\n  occupancy       {} blocks, {} warps on an SM, {:.0f}%, limited by {}; {:.2f} waves\n",
                      e.occupancy.blocks_per_sm, e.occupancy.warps_per_sm, 100 * e.occupancy.share, e.occupancy.limiter, e.waves);
  for (const std::string& note : e.notes) text += "  note            " + note + "\n";
  return text;
}

// The lines of a source file; none where it cannot be read any more.
std::vector<std::string> source_lines(const fs::path& file) {
  std::vector<std::string> lines;
  if (auto text = read_file(file)) {
    std::istringstream stream(*text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
  }
  return lines;
}

std::string lines_text(const Counters& counters, const fs::path& source, int most_lines) {
  std::vector<std::pair<std::pair<std::string, int>, LineCounters>> lines(counters.lines.begin(), counters.lines.end());
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& a, const auto& b) { return a.second.warp_instructions > b.second.warp_instructions; });
  const std::size_t left_out = lines.size() - std::min(lines.size(), static_cast<std::size_t>(most_lines));
  lines.resize(lines.size() - left_out);
  std::sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::map<std::string, std::vector<std::string>> sources;
  std::string text = "   share   instr  lanes  sectors  conflicts  line\n";
  for (const auto& [place, c] : lines) {
    const std::string name = fs::path(place.first).filename().string();
    if (!sources.contains(place.first))
      sources[place.first] = source_lines(name == source.filename().string() ? source : fs::path(place.first));
    const auto& content = sources[place.first];
    const auto number = static_cast<std::size_t>(std::max(place.second, 0));
    std::string words = number >= 1 && number <= content.size() ? content[number - 1] : std::string();
    words.erase(0, words.find_first_not_of(" \t"));
    const std::uint64_t requests = c.global_load_requests + c.global_store_requests;
    text += fmt::format(
        "  {:5.1f}% {:7} {:6.1f} {:>8} {:10}  {}:{}  {}\n", 100 * per(c.warp_instructions, counters.warp_instructions),
        c.warp_instructions, per(c.lane_instructions, c.warp_instructions),
        requests == 0 ? std::string("-") : fmt::format("{:.1f}", per(c.global_load_sectors + c.global_store_sectors, requests)),
        c.shared_conflicts, place.second == 0 ? "(no line)" : name, place.second, words.substr(0, 90));
  }
  if (left_out > 0) text += fmt::format("  {} lines with fewer instructions are left out (--lines)\n", left_out);
  return text;
}

}  // namespace

Result<vgpu::ProgramReport> read_program_report(const fs::path& file) {
  std::error_code missing;
  if (!fs::exists(file, missing)) return vgpu::ProgramReport{};
  KW_TRY(const std::string text, read_file(file));
  return vgpu::parse_program_report(text);
}

Json profile_json(const vgpu::GpuSheet& sheet, const vgpu::ProgramReport& report) {
  Json kernels = Json::array();
  for (const KernelProfile& profile : profiles_of(sheet, report))
    kernels.push_back({{"kernel", profile.first.kernel},
                       {"name", demangled(profile.first.kernel)},
                       {"launches", profile.launches},
                       {"grid", profile.first.grid},
                       {"block", profile.first.block},
                       {"dynamic_shared", profile.first.dynamic_shared},
                       {"static_shared", profile.first.static_shared},
                       {"registers", profile.first.registers},
                       {"counters", profile.counters},
                       {"estimate", profile.estimate}});
  return kernels;
}

std::string profile_text(const vgpu::GpuSheet& sheet, const vgpu::ProgramReport& report,
                         const std::map<std::string, vgpu::PtxasFacts>& facts, const fs::path& source, int most_lines) {
  std::string text;
  for (const KernelProfile& profile : profiles_of(sheet, report)) {
    const LaunchRecord& first = profile.first;
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n", demangled(first.kernel));
    text += fmt::format("  {} launch{}      grid {}, block {}, {} bytes of shared memory\n", profile.launches,
                        profile.launches == 1 ? "  " : "es", shape_text(first.grid), shape_text(first.block),
                        first.dynamic_shared + first.static_shared);
    if (const auto found = facts.find(first.kernel); found != facts.end())
      text += fmt::format("  ptxas           {} registers, {} bytes of spills, {} bytes of stack\n", found->second.registers,
                          found->second.spill_store_bytes + found->second.spill_load_bytes, found->second.stack_bytes);
    else if (first.registers > 0)
      text += fmt::format("  ptxas           {} registers\n", first.registers);
    text +=
        counters_text(profile.counters) + estimate_text(sheet, profile.estimate) + lines_text(profile.counters, source, most_lines);
  }
  return text.empty() ? "no kernel was launched\n" : text;
}

}  // namespace kw
