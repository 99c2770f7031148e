#include "profile/findings.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw {
namespace {

constexpr std::size_t kMostFindings = 5;

std::string count_word(int count) {
  static constexpr std::array<const char*, 9> kWords{"no", "one", "two", "three", "four", "five", "six", "seven", "eight"};
  return count >= 0 && count < 9 ? kWords[static_cast<std::size_t>(count)] : fmt::format("{}", count);
}

std::string plural(int count, std::string_view one) { return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s"); }

std::string short_seconds(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.3g} s", seconds);
}

std::string loop_name(const Loop& loop) { return fmt::format("the inner loop of {}", source_name(loop.function)); }

// "(a, b; line 48)": what is known of these.
std::string loop_details(const Loop& loop, const std::string& details) {
  const std::string line = loop.line > 0 ? fmt::format("line {}", loop.line) : "";
  if (details.empty() && line.empty()) return "";
  return fmt::format(" ({}{}{})", details, details.empty() || line.empty() ? "" : "; ", line);
}

// Cycles that the units of a core need for an iteration at least, without waiting for anything: two vector units, two loads and one
// store a cycle, four instructions.
double unit_cycles(const LoopCounts& counts) {
  const double arithmetic = counts.packed_float_ops + counts.packed_integer_ops + counts.scalar_float_ops;
  return std::max({arithmetic / 2, (counts.loads + counts.spill_loads) / 2.0,
                   static_cast<double>(counts.stores + counts.spill_stores), counts.instructions / 4.0});
}

bool touches_vectors(const Loop& loop) {
  return std::any_of(loop.body.begin(), loop.body.end(), [](const Instruction& instruction) {
    const std::string& text = instruction.operands;
    return text.find("mm") != std::string::npos || text.find(".4s") != std::string::npos || text.starts_with("q");
  });
}

class FindingList {
 public:
  explicit FindingList(const ProfileInputs& inputs) : in_(inputs), headroom_(std::clamp(1 - inputs.share_of_ceiling, 0.05, 1.0)) {}

  std::vector<Finding> take() {
    bounds();
    team();
    for (const Loop& loop : in_.loops)
      if (loop.hot) {
        vectors(loop);
        expensive_operations(loop);
        waiting(loop);
      }
    stores();
    counters();
    std::stable_sort(list_.begin(), list_.end(), [](const Finding& a, const Finding& b) { return a.weight > b.weight; });
    if (list_.size() > kMostFindings) list_.resize(kMostFindings);
    return std::move(list_);
  }

 private:
  // Each kind once: of several loops the heaviest is named, which comes first.
  void add(std::string kind, std::string text, double weight, std::vector<std::string> levers) {
    const bool said = std::any_of(list_.begin(), list_.end(), [&](const Finding& finding) { return finding.kind == kind; });
    if (!said) list_.push_back({std::move(kind), std::move(text), std::clamp(weight, 0.0, 1.0), std::move(levers)});
  }
  // What a loop could gain ends at the ceiling.
  void add_for(const Loop& loop, std::string kind, std::string text, double weight, std::vector<std::string> levers) {
    add(std::move(kind), std::move(text), weight * headroom_ * (0.5 + 0.5 * loop.weight), std::move(levers));
  }

  void bounds() {
    const double share = in_.share_of_ceiling;
    if ((in_.zone == "memory" || in_.zone == "balanced") && share >= 0.6)
      add("bandwidth_bound", fmt::format("bandwidth-bound: {:.0f}% of the ceiling", share * 100), share,
          {"fuse", "reuse_buffers", "stream_stores", "online_algorithm", "algorithm"});
    if (in_.zone == "compute" && share >= 0.6)
      add("compute_bound", fmt::format("compute-bound: {:.0f}% of the ceiling", share * 100), share,
          {"algorithm", "register_tile", "approximate_math"});
    if (in_.threads > 1 && in_.region_seconds > 0 && in_.seconds > 0 && in_.seconds < 20 * in_.region_seconds)
      add("latency_bound",
          fmt::format("latency-bound: a call takes {}, starting {} threads alone {}", short_seconds(in_.seconds),
                      count_word(in_.threads), short_seconds(in_.region_seconds)),
          std::min(0.9, 0.3 + 2 * in_.region_seconds / in_.seconds), {"fuse", "parallelise", "reuse_buffers"});
    else if (in_.zone == "latency" && in_.seconds > 0)
      add("latency_bound", fmt::format("latency-bound: a call takes {}", short_seconds(in_.seconds)), 0.5,
          {"fuse", "reuse_buffers"});
  }

  void team() {
    if (in_.threads > 1 && in_.one_thread_seconds > 0 && in_.seconds > 0) {
      const double times = in_.one_thread_seconds / in_.seconds;
      const double lost = 1 - times / in_.threads;
      // Threads that share the memory's bandwidth cannot scale beyond it.
      const bool at_the_ceiling = in_.zone != "compute" && in_.share_of_ceiling >= 0.7;
      if (lost > 0.3 && !at_the_ceiling)
        add("no_scaling", fmt::format("{} threads are {:.1f}x as fast as one", count_word(in_.threads), times), lost * 1.5,
            {"parallelise", "balance_work"});
    }
    if (in_.slowest_over_mean > 1.15)
      add("unbalanced", fmt::format("unbalanced: the slowest thread works {:.1f}x as long as the mean", in_.slowest_over_mean),
          in_.slowest_over_mean - 1, {"balance_work", "parallelise"});
    if (in_.cold_seconds > 1.5 * in_.seconds && in_.seconds > 0)
      add("cold_misses", fmt::format("a call with cold caches takes {:.1f}x as long as a warm one", in_.cold_seconds / in_.seconds),
          std::min(0.5, 0.15 * in_.cold_seconds / in_.seconds), {"prefetch", "pack", "layout"});
  }

  void vectors(const Loop& loop) {
    const LoopCounts& counts = loop.counts;
    const int packed = counts.packed_float_ops;
    const int scalar = counts.scalar_float_ops;
    const std::string scalars = 2 * counts.scalar_multiplications >= scalar
                                    ? plural(counts.scalar_multiplications, "scalar multiplication")
                                : 2 * counts.scalar_additions >= scalar ? plural(counts.scalar_additions, "scalar addition")
                                                                        : plural(scalar, "scalar operation");
    if (scalar > 0 && packed == 0)
      add_for(loop, "not_vectorised", fmt::format("{} is not vectorised{}", loop_name(loop), loop_details(loop, scalars)), 0.95,
              {"vectorise", "reorder_loops", "layout"});
    else if (scalar > 2 * packed && counts.scalar_additions > 0)
      add_for(loop, "not_vectorised",
              fmt::format("{} adds element by element{}", loop_name(loop),
                          loop_details(loop, fmt::format("{} beside {}", plural(counts.scalar_additions, "scalar addition"),
                                                         plural(packed, "packed operation")))),
              0.9, {"vectorise", "reduction_tree"});
    else if (scalar == 0 && counts.work() == 0 && counts.loads + counts.stores > 0 && counts.other_calls.empty() &&
             !touches_vectors(loop))
      add_for(loop, "not_vectorised",
              fmt::format("{} uses no vector instruction{}", loop_name(loop),
                          loop_details(loop, fmt::format("{}, {}", plural(counts.loads, "load"), plural(counts.stores, "store")))),
              0.6, {"vectorise", "reorder_loops", "layout"});
    else if (packed > 0 && counts.widest_bits() < in_.vector_bits)
      add_for(loop, "narrow_vectors",
              fmt::format("{} uses {}-bit vectors; the machine has {} bits{}", loop_name(loop), counts.widest_bits(),
                          in_.vector_bits, loop_details(loop, "")),
              0.5, {"vectorise"});
  }

  void expensive_operations(const Loop& loop) {
    const LoopCounts& counts = loop.counts;
    if (!counts.libm_calls.empty())
      add_for(loop, "libm_calls",
              fmt::format("{} calls {}{}", loop_name(loop), fmt::join(counts.libm_calls, ", "), loop_details(loop, "")), 1,
              {"approximate_math", "vectorise"});
    if (counts.divisions > 0)
      add_for(
          loop, "divisions",
          fmt::format("{} in {}{}", plural(counts.divisions, "division or square root"), loop_name(loop), loop_details(loop, "")),
          0.25 + 0.5 * counts.divisions / std::max(1, counts.work()), {"approximate_math", "algorithm"});
    if (counts.integer_divisions > 0)
      add_for(
          loop, "integer_divisions",
          fmt::format("{} in {}{}", plural(counts.integer_divisions, "integer division"), loop_name(loop), loop_details(loop, "")),
          0.7, {"reorder_loops", "layout"});
    if (counts.gathers > 0)
      add_for(loop, "gathers", fmt::format("{} in {}{}", plural(counts.gathers, "gather"), loop_name(loop), loop_details(loop, "")),
              0.6, {"layout", "pack", "reorder_loops"});
    if (counts.spills() >= 2 && counts.spills() * 12 >= counts.instructions)
      add_for(loop, "spills",
              fmt::format("{} in {}{}", plural(counts.spills(), "spill"), loop_name(loop),
                          loop_details(loop, fmt::format("{}, {}", plural(counts.spill_loads, "load"),
                                                         plural(counts.spill_stores, "store")))),
              0.2 + 2.0 * counts.spills() / counts.instructions, {"register_tile", "unroll"});
    const int arithmetic = counts.packed_float_ops;
    if (in_.zone == "compute" && arithmetic > 0 && counts.loads >= arithmetic)
      add_for(loop, "load_bound",
              fmt::format("{} for {} in {}: what is loaded is used too few times{}", plural(counts.loads, "load"),
                          plural(arithmetic, "packed operation"), loop_name(loop), loop_details(loop, "")),
              0.7, {"register_tile", "cache_tile", "pack"});
  }

  void waiting(const Loop& loop) {
    const bool is_simulated = in_.mca && !in_.loops.empty() && &loop == &in_.loops.front();
    const CarriedChain& chain = loop.chain;
    const double units = is_simulated ? std::max(in_.mca->throughput_cycles, 0.25) : unit_cycles(loop.counts);
    const bool waits = chain.cycles >= 3 && chain.cycles > 1.5 * units && (!is_simulated || in_.mca->waits_for_results());
    if (waits && loop.counts.libm_calls.empty()) {
      const std::string wait = chain.operations == 1
                                   ? fmt::format("{:.0f} cycles per operation", chain.cycles)
                                   : fmt::format("{:.0f} cycles for {} operations in a row", chain.cycles, chain.operations);
      add_for(loop, "dependency_chain",
              chain.through_memory
                  ? fmt::format("{} accumulates in memory: it waits {}{}", loop_name(loop), wait, loop_details(loop, ""))
                  : fmt::format("{} accumulator{}: {} waits {}{}", count_word(chain.accumulators),
                                chain.accumulators == 1 ? "" : "s", loop_name(loop), wait, loop_details(loop, "")),
              0.1 + 0.8 * (1 - units / chain.cycles), {"reduction_tree", "unroll", "register_tile"});
    } else if (is_simulated && in_.mca->resource_pressure > 0.3 && !in_.mca->busiest_unit.empty()) {
      add_for(loop, "unit_bound",
              fmt::format("{} keeps {} busy: {:.1f} cycles an iteration{}", loop_name(loop), in_.mca->busiest_unit,
                          in_.mca->cycles_per_iteration, loop_details(loop, "")),
              0.5 * in_.mca->resource_pressure, {"register_tile", "approximate_math", "algorithm"});
    }
  }

  void stores() {
    if (in_.cache_bytes <= 0 || in_.output_bytes <= in_.cache_bytes || in_.zone == "compute") return;
    bool plain = false, streaming = false;
    for (const Loop& loop : in_.loops) {
      plain |= loop.counts.stores > loop.counts.streaming_stores;
      streaming |= loop.counts.streaming_stores > 0;
    }
    if (plain && !streaming)
      add("store_bound",
          fmt::format("store-bound: the output is {:.1f}x as large as the last cache and is written without streaming stores",
                      in_.output_bytes / in_.cache_bytes),
          0.45, {"stream_stores", "fuse"});
  }

  void counters() {
    if (!in_.counters || in_.counters->instructions <= 0) return;
    const double misses = 1000 * in_.counters->cache_misses / in_.counters->instructions;
    if (misses > 5)
      add("cache_misses",
          fmt::format("{:.0f} misses of the last cache per 1000 instructions ({:.1f} instructions per cycle)", misses,
                      in_.counters->instructions_per_cycle()),
          std::min(0.7, 0.3 + misses / 100) * headroom_, {"cache_tile", "prefetch", "fuse"});
  }

  const ProfileInputs& in_;
  double headroom_;
  std::vector<Finding> list_;
};

}  // namespace

int vector_bits_of(const std::vector<std::string>& isas) {
  const auto has = [&](std::string_view isa) { return std::find(isas.begin(), isas.end(), isa) != isas.end(); };
  if (has("avx512f") || has("avx512")) return 512;
  if (has("avx2") || has("avx")) return 256;
  return has("sse2") || has("neon") || has("asimd") ? 128 : 0;
}

ProfileRecord findings(const ProfileInputs& inputs) {
  return {FindingList(inputs).take(), inputs.counters ? "counters" : "assembly"};
}

}  // namespace kw
