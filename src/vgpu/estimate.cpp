#include "vgpu/estimate.h"

#include <algorithm>
#include <cmath>

namespace kw::vgpu {
namespace {

constexpr double kWarpLanes = 32;
constexpr double kSectorBytes = 32;
// What real kernels sustain of a published rate.
constexpr double kSustained = 0.9;
// The shortest time between the start and the end of an empty kernel.
constexpr double kLaunchSeconds = 2e-6;
// Where a sheet has no figure.
constexpr double kL2BytesPerClockAndSm = 32;
constexpr double kSharedLatency = 30, kL1Latency = 40, kL2Latency = 260, kMemoryLatency = 500;
// Cycles until a dependent arithmetic instruction may start, and how many independent ones a warp has on average.
constexpr double kArithmeticLatency = 4, kIndependent = 2;
// Loads that a warp has under way before it waits for the first.
constexpr double kLoadsInFlight = 4;
constexpr double kBarrierLatency = 20;
// Resources overlap, though never fully: a norm of this order lies a little above the largest of them.
constexpr double kOverlapOrder = 6;

double issued_on(const LineCounters& counters, Pipe pipe) {
  return static_cast<double>(counters.issued[static_cast<std::size_t>(pipe)]);
}

// Cycles of one SM if all SMs had the same share, by resource.
class SmCycles {
 public:
  SmCycles(const GpuSheet& sheet, const LineCounters& counters) : sheet_(sheet), counters_(counters) {}

  // Moves are left out: most of PTX's are gone after register allocation.
  [[nodiscard]] double issue() const {
    const double all = static_cast<double>(counters_.warp_instructions) - issued_on(counters_, Pipe::move);
    return std::max(all, 0.0) / sheet_.per_sm.schedulers;
  }
  [[nodiscard]] double fp32() const { return lanes(Pipe::fp32) / sheet_.rates.fp32; }
  [[nodiscard]] double fp64() const { return lanes(Pipe::fp64) / sheet_.rates.fp64; }
  // The published rate counts both halves of a half2.
  [[nodiscard]] double fp16() const { return lanes(Pipe::fp16) / (sheet_.rates.fp16 / 2); }
  [[nodiscard]] double integer() const { return (lanes(Pipe::integer) + lanes(Pipe::conversion)) / sheet_.rates.int32; }
  [[nodiscard]] double special() const { return lanes(Pipe::special) / sheet_.rates.special; }
  [[nodiscard]] double shared() const {
    return static_cast<double>(counters_.shared_wavefronts) * 128 / sheet_.per_sm.shared_bytes_per_clock;
  }
  [[nodiscard]] double l1() const {
    const auto sectors = static_cast<double>(counters_.global_load_sectors + counters_.global_store_sectors);
    return (sectors * kSectorBytes + static_cast<double>(counters_.local_bytes)) / sheet_.per_sm.shared_bytes_per_clock;
  }
  [[nodiscard]] double atomics() const { return static_cast<double>(counters_.atomic_lanes); }

 private:
  [[nodiscard]] double lanes(Pipe pipe) const { return issued_on(counters_, pipe) * kWarpLanes; }
  const GpuSheet& sheet_;
  const LineCounters& counters_;
};

double latency_of(const GpuSheet& sheet, const char* level, double otherwise) {
  const auto found = sheet.latency_cycles.find(level);
  return found == sheet.latency_cycles.end() ? otherwise : found->second;
}

// Cycles that one warp takes if it never waits for a unit, only for its own results.
double cycles_of_a_warp(const GpuSheet& sheet, const LineCounters& counters, double warps) {
  const double l1 = latency_of(sheet, "l1", kL1Latency), l2 = latency_of(sheet, "l2", kL2Latency);
  const double memory = latency_of(sheet, "memory", kMemoryLatency);
  const auto hits1 = static_cast<double>(counters.l1_hits), hits2 = static_cast<double>(counters.l2_hits);
  const auto misses2 = static_cast<double>(counters.l2_misses);
  const double sectors = hits1 + hits2 + misses2;
  const double load = sectors == 0 ? l2 : (hits1 * l1 + hits2 * l2 + misses2 * memory) / sectors;
  const auto shared = static_cast<double>(counters.shared_load_requests);
  const double arithmetic =
      static_cast<double>(counters.warp_instructions) - issued_on(counters, Pipe::move) - issued_on(counters, Pipe::memory);
  const double cycles = std::max(arithmetic, 0.0) * kArithmeticLatency / kIndependent +
                        static_cast<double>(counters.global_load_requests) * load / kLoadsInFlight +
                        static_cast<double>(counters.atomics) * l2 / kLoadsInFlight +
                        shared * latency_of(sheet, "shared", kSharedLatency) / kIndependent +
                        static_cast<double>(counters.barriers) * kBarrierLatency;
  return cycles / warps;
}

double tensor_rate(const GpuSheet& sheet, const std::string& kind, std::vector<std::string>& notes) {
  if (const auto found = sheet.peak_tflops.find(kind); found != sheet.peak_tflops.end()) return found->second * 1e12;
  double slowest = 0;
  for (const auto& [name, peak] : sheet.peak_tflops)
    if (name.starts_with("tensor_") && (slowest == 0 || peak < slowest)) slowest = peak;
  notes.push_back("the data sheet has no peak '" + kind + "': the slowest tensor peak that it has is taken");
  return (slowest == 0 ? sheet.peak_tflops.at("fp32") : slowest) * 1e12;
}

void add_notes(const GpuSheet& sheet, const LineCounters& counters, const LaunchShape& shape, Estimate& estimate) {
  const auto ratio = [](std::uint64_t a, std::uint64_t b) { return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b); };
  const auto percent = [](double share) { return std::to_string(static_cast<int>(std::lround(share * 100))) + "%"; };
  if (shape.registers == 0) estimate.notes.emplace_back("registers are unknown: they do not limit the occupancy here");
  if (!sheet.latency_cycles.contains("memory")) estimate.notes.emplace_back("no published memory latency: 500 cycles are taken");
  if (estimate.occupancy.blocks_per_sm > 0 && estimate.waves < 1)
    estimate.notes.push_back("the grid fills " + percent(estimate.waves) + " of the GPU");
  const std::uint64_t asked = counters.global_load_bytes + counters.global_store_bytes;
  const std::uint64_t moved = (counters.global_load_sectors + counters.global_store_sectors) * 32;
  if (moved > 0 && ratio(asked, moved) < 0.5)
    estimate.notes.push_back("only " + percent(ratio(asked, moved)) + " of the bytes in the sectors that move are used: coalesce");
  if (ratio(counters.shared_conflicts, counters.shared_wavefronts) > 0.1)
    estimate.notes.push_back("bank conflicts are " + percent(ratio(counters.shared_conflicts, counters.shared_wavefronts)) +
                             " of the passes over shared memory");
  if (counters.warp_instructions > 0 && ratio(counters.lane_instructions, counters.warp_instructions) < 24)
    estimate.notes.push_back("on average " +
                             std::to_string(static_cast<int>(ratio(counters.lane_instructions, counters.warp_instructions))) +
                             " of 32 lanes are active");
  if (counters.local_bytes > 0)
    estimate.notes.emplace_back("local memory is used: spilled registers or arrays with computed indices");
}

}  // namespace

Estimate estimate_launch(const GpuSheet& sheet, const LineCounters& counters, const LaunchShape& shape) {
  Estimate estimate;
  estimate.occupancy = occupancy_of(sheet, shape.threads_per_block, shape.registers, shape.shared);
  const double blocks = static_cast<double>(std::max<std::uint64_t>(shape.blocks, 1));
  const double sms = sheet.sm_count, clock = sheet.clock_hz();
  const int resident = std::max(estimate.occupancy.blocks_per_sm, 1);
  estimate.waves = blocks / (sms * resident);

  // Blocks are whole: the fullest SM has this many.
  const double fullest = std::ceil(blocks / sms);
  const auto on_sms = [&](double cycles) { return cycles * fullest / blocks / clock; };
  const SmCycles cycles(sheet, counters);
  const auto add = [&](const char* name, double seconds) {
    if (seconds > 0) estimate.resources.push_back({name, seconds, 0});
  };
  add("issue", on_sms(cycles.issue()));
  add("fp32", on_sms(cycles.fp32()));
  add("fp64", on_sms(cycles.fp64()));
  add("fp16", on_sms(cycles.fp16()));
  add("integer", on_sms(cycles.integer()));
  add("special functions", on_sms(cycles.special()));
  add("shared memory", on_sms(cycles.shared()));
  add("l1", on_sms(cycles.l1()));
  add("atomics", on_sms(cycles.atomics()));
  if (counters.flops_tensor > 0) {
    const double all_sms = static_cast<double>(counters.flops_tensor) / tensor_rate(sheet, shape.tensor_kind, estimate.notes);
    add("tensor", all_sms * fullest * sms / blocks);
  }
  const double l2_rate = sheet.l2_bytes_per_clock.value_or(kL2BytesPerClockAndSm * sms) * clock;
  add("l2", static_cast<double>(counters.l2_hits + counters.l2_misses) * kSectorBytes / l2_rate);
  add("memory", static_cast<double>(counters.dram_bytes) / (sheet.memory_gb_per_s * 1e9));

  const int warps_of_block = (shape.threads_per_block + 31) / 32;
  const double together = std::min<double>(resident, fullest);
  add("latency", cycles_of_a_warp(sheet, counters, blocks * warps_of_block) * std::ceil(fullest / together) / clock);

  double norm = 0;
  for (const ResourceTime& each : estimate.resources)
    norm += std::pow(each.resource == "latency" ? each.seconds : each.seconds / kSustained, kOverlapOrder);
  estimate.seconds = kLaunchSeconds + std::pow(norm, 1 / kOverlapOrder);
  estimate.resources.push_back({"launch", kLaunchSeconds, 0});
  for (ResourceTime& each : estimate.resources) {
    each.share = each.seconds / estimate.seconds;
    if (each.resource != "latency" && each.resource != "launch")
      estimate.share_of_speed_of_light = std::max(estimate.share_of_speed_of_light, each.share);
  }
  std::stable_sort(estimate.resources.begin(), estimate.resources.end(),
                   [](const ResourceTime& a, const ResourceTime& b) { return a.seconds > b.seconds; });
  estimate.limiting = estimate.resources.front().resource;
  add_notes(sheet, counters, shape, estimate);
  return estimate;
}

double estimate_moves(const GpuSheet& sheet, std::size_t moves, std::uint64_t bytes) {
  return kLaunchSeconds * static_cast<double>(moves) + static_cast<double>(bytes) / (sheet.memory_gb_per_s * 1e9 * kSustained);
}

std::string tensor_kind_of(std::string_view ptx) {
  // From the slowest to the fastest, by the types of the fragments of A.
  static constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {".f64.f64", "tensor_fp64"}, {".tf32.tf32", "tensor_tf32"}, {".bf16.bf16", "tensor_bf16"}, {".f16.f16", "tensor_fp16"},
      {".e4m3", "tensor_fp8"},     {".e5m2", "tensor_fp8"},       {".s8.s8", "tensor_int8"},     {".u8.u8", "tensor_int8"}};
  std::size_t best = std::size(kKinds);
  for (const std::string_view opcode : {"mma.sync", "wgmma.mma_async"}) {
    for (std::size_t at = ptx.find(opcode); at != std::string_view::npos; at = ptx.find(opcode, at + 1)) {
      const std::string_view instruction = ptx.substr(at, ptx.find_first_of(" \t\n;", at) - at);
      for (std::size_t kind = 0; kind < best; ++kind)
        if (instruction.find(kKinds[kind].first) != std::string_view::npos) best = kind;
    }
  }
  return std::string(best == std::size(kKinds) ? "tensor_fp16" : kKinds[best].second);
}

void to_json(Json& json, const Estimate& estimate) {
  json = {{"what", "estimate"},
          {"seconds", estimate.seconds},
          {"limiting", estimate.limiting},
          {"share_of_speed_of_light", estimate.share_of_speed_of_light},
          {"waves", estimate.waves},
          {"occupancy",
           {{"blocks_per_sm", estimate.occupancy.blocks_per_sm},
            {"warps_per_sm", estimate.occupancy.warps_per_sm},
            {"share", estimate.occupancy.share},
            {"limiter", estimate.occupancy.limiter}}},
          {"notes", estimate.notes},
          {"resources", Json::array()}};
  for (const ResourceTime& each : estimate.resources)
    json["resources"].push_back({{"resource", each.resource}, {"seconds", each.seconds}, {"share", each.share}});
}

}  // namespace kw::vgpu
