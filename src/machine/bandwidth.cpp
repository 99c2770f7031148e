#include "machine/bandwidth.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>

#include <fmt/format.h>

#include "base/work_limit.h"
#include "machine/kernel_attributes.h"
#include "machine/team.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace kw {
namespace {

constexpr std::size_t kBlockBytes = 512;  // what a turn of each loop moves: eight cache lines
// A thread's part divides into one, two or three arrays of whole blocks, so that all patterns have the same sets.
constexpr std::size_t kPartBytes = 6 * kBlockBytes;
// Below this, stores that bypass the caches only lose.
constexpr double kLeastForStreaming = 4 << 20;

// Each does `rounds` passes, the first argument, over the same memory.
struct Loops {
  long long (*read)(long, const char*, std::size_t);
  void (*write)(long, char*, std::size_t, float);
  void (*copy)(long, char*, const char*, std::size_t);
  void (*triad)(long, char*, const char*, const char*, std::size_t, float);
  void (*write_streaming)(long, char*, std::size_t, float);  // null where there are no such stores
  void (*copy_streaming)(long, char*, const char*, std::size_t);
  void (*triad_streaming)(long, char*, const char*, const char*, std::size_t, float);
};

#if defined(__x86_64__)
namespace sse2 {
#define KW_LOOP KW_MEASURED_LOOP KW_TARGET("sse2")
#define KW_BYTES 16
#define KW_STREAM(pointer, vector) _mm_stream_ps(reinterpret_cast<float*>(pointer), vector)
#include "machine/bandwidth_loops.inc"
}  // namespace sse2
namespace avx2 {
#define KW_LOOP KW_MEASURED_LOOP KW_TARGET("avx2")
#define KW_BYTES 32
#define KW_STREAM(pointer, vector) _mm256_stream_ps(reinterpret_cast<float*>(pointer), vector)
#include "machine/bandwidth_loops.inc"
}  // namespace avx2
namespace avx512 {
#define KW_LOOP KW_MEASURED_LOOP KW_TARGET("avx512f")
#define KW_BYTES 64
#define KW_STREAM(pointer, vector) _mm512_stream_ps(reinterpret_cast<float*>(pointer), vector)
#include "machine/bandwidth_loops.inc"
}  // namespace avx512

const Loops& widest_loops(const CpuInfo& cpu) {
  if (cpu.has("avx512f")) return avx512::kLoops;
  if (cpu.has("avx2")) return avx2::kLoops;
  return sse2::kLoops;
}
#else
namespace vector16 {
#define KW_LOOP KW_MEASURED_LOOP
#define KW_BYTES 16
#include "machine/bandwidth_loops.inc"
}  // namespace vector16

const Loops& widest_loops(const CpuInfo&) { return vector16::kLoops; }
#endif

// Memory in huge pages where the system gives them, so that address translation does not hide the ceiling.
class Arena {
 public:
  static Result<Arena> make(std::size_t bytes) {
    constexpr std::size_t kHugePage = 2 << 20;
    const std::size_t size = (bytes / kHugePage + 2) * kHugePage;
    void* base = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
      return internal_error(fmt::format("no {} MiB of memory to measure bandwidth with: {}", size >> 20, std::strerror(errno)),
                            "free some memory, or raise the limit of the shell or container");
    madvise(base, size, MADV_HUGEPAGE);
    return Arena(static_cast<char*>(base), size);
  }
  Arena(Arena&& other) noexcept : base_(std::exchange(other.base_, nullptr)), size_(other.size_) {}
  Arena& operator=(Arena&&) = delete;
  ~Arena() {
    if (base_) munmap(base_, size_);
  }
  [[nodiscard]] char* aligned() const {
    constexpr std::uintptr_t kHugePage = 2 << 20;
    return base_ + (kHugePage - reinterpret_cast<std::uintptr_t>(base_) % kHugePage) % kHugePage;
  }

 private:
  Arena(char* base, std::size_t size) : base_(base), size_(size) {}
  char* base_;
  std::size_t size_;
};

// Passes over the `part` bytes at `at` that belong to a thread. They move `part` bytes a round, whatever the number
// of arrays in it: that is how rates are counted.
using Rounds = std::function<void(long rounds, char* at, std::size_t part)>;
struct Pattern {
  const char* name;
  Rounds plain;
  Rounds streaming;  // empty where there is none
};

std::vector<Pattern> patterns_of(const Loops& loops) {
  const Rounds read = [loop = loops.read](long rounds, char* at, std::size_t part) {
    [[maybe_unused]] volatile long long keep = loop(rounds, at, part);
  };
  const auto write = [](auto loop) -> Rounds {
    if (!loop) return {};
    return [loop](long rounds, char* at, std::size_t part) { loop(rounds, at, part, 1.5F); };
  };
  const auto copy = [](auto loop) -> Rounds {
    if (!loop) return {};
    return [loop](long rounds, char* at, std::size_t part) { loop(rounds, at, at + part / 2, part / 2); };
  };
  const auto triad = [](auto loop) -> Rounds {
    if (!loop) return {};
    return [loop](long rounds, char* at, std::size_t part) { loop(rounds, at, at + part / 3, at + part / 3 * 2, part / 3, 0.25F); };
  };
  return {{"read", read, {}},
          {"write", write(loops.write), write(loops.write_streaming)},
          {"copy", copy(loops.copy), copy(loops.copy_streaming)},
          {"triad", triad(loops.triad), triad(loops.triad_streaming)}};
}

}  // namespace

std::vector<double> working_sets(const CpuInfo& cpu, int threads, double most_bytes) {
  // Where the system tells no cache sizes, common ones still make a ladder.
  const double l1 = cpu.l1d_bytes > 0 ? cpu.l1d_bytes : 32 << 10;
  const double l2 = cpu.l2_bytes > 0 ? cpu.l2_bytes : 512 << 10;
  const double l3 = threads > 1 ? cpu.l3_bytes : cpu.l3_of_one_core_bytes;
  constexpr double kLeastBeyondCaches = 64 << 20;
  double beyond = std::max(4 * cpu.l3_bytes, kLeastBeyondCaches);
  if (cpu.memory_bytes > 0) beyond = std::min(beyond, cpu.memory_bytes / 8);
  std::vector<double> wanted{threads * l1 / 2, threads * l2 / 2, beyond};
  if (l3 > 0) wanted.insert(wanted.end(), {l3 / 4, l3 * 3 / 4});
  std::vector<double> sets;
  sets.reserve(wanted.size());
  const double unit = static_cast<double>(kPartBytes) * threads;
  for (const double bytes : wanted) sets.push_back(std::max(1.0, std::floor(std::min(bytes, most_bytes) / unit)) * unit);
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  return sets;
}

Result<std::vector<BandwidthPoint>> measure_bandwidth(const CpuInfo& cpu, int threads, const std::vector<double>& sets,
                                                      double budget_seconds_per_point) {
  const FixedTeams fixed;
  std::vector<BandwidthPoint> points;
  if (sets.empty()) return points;
  KW_TRY(const Arena arena, Arena::make(static_cast<std::size_t>(*std::max_element(sets.begin(), sets.end()))));
  char* const memory = arena.aligned();
  const std::vector<Pattern> patterns = patterns_of(widest_loops(cpu));
  // Largest first: the thread that uses most of a page's time touches it first, so that it lies on that thread's node.
  for (auto at = sets.rbegin(); at != sets.rend(); ++at) {
    if (auto end = work_must_end()) return *end;
    const double set = *at;
    const std::size_t part = static_cast<std::size_t>(set) / static_cast<std::size_t>(threads) / kPartBytes * kPartBytes;
    if (part == 0)
      return bad_input(fmt::format("a working set of {} bytes is too small for {} threads", set, threads),
                       "take the sets from working_sets()");
    const auto seconds_of = [&](const Rounds& work) {
      return best_seconds_per_round(threads, budget_seconds_per_point, [&](int thread, long rounds) {
        work(rounds, memory + static_cast<std::size_t>(thread) * part, part);
      });
    };
    team_cpu_seconds(threads, [&](int thread) { std::memset(memory + static_cast<std::size_t>(thread) * part, 0, part); });
    for (const Pattern& pattern : patterns) {
      double seconds = seconds_of(pattern.plain);
      if (pattern.streaming && set > std::max(cpu.l3_of_one_core_bytes / 2, kLeastForStreaming))
        seconds = std::min(seconds, seconds_of(pattern.streaming));
      const double bytes = static_cast<double>(part) * threads;
      points.push_back({pattern.name, threads, bytes, bytes / seconds * 1e-9});
    }
  }
  return points;
}

}  // namespace kw
