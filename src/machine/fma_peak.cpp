#include "machine/fma_peak.h"

#include <array>

#include <fmt/format.h>

#include "machine/kernel_attributes.h"
#include "machine/team.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace kw {
namespace {

// x -> x * kFactor + kAddend stays near 1 for ever: neither denormal nor infinite values, which would be slower.
constexpr float kFactor = 0.999F;
constexpr float kAddend = 0.001F;

// Every accumulator starts elsewhere, or the compiler would see that one chain does for all.
constexpr int kMostAccumulators = 24;
using Start = std::array<float, kMostAccumulators>;

// Each loop has more independent chains than latency x units asks for (4 x 2 on most cores, 4 x 4 on wide ARM ones)
// and no more than fit in the registers beside the two constants.
struct Loop {
  const char* isa;
  float (*run)(long rounds, const Start& start);
  int flops_per_round;
};

#if defined(__x86_64__)

KW_MEASURED_LOOP KW_TARGET("sse2") float loop_sse2(long rounds, const Start& start) {
  const __m128 factor = _mm_set1_ps(kFactor), addend = _mm_set1_ps(kAddend);
  __m128 chains[12];
  for (int i = 0; i < 12; ++i) chains[i] = _mm_set1_ps(start[i]);
  for (long round = 0; round < rounds; ++round)
    for (auto& chain : chains) chain = _mm_add_ps(_mm_mul_ps(chain, factor), addend);
  __m128 sum = chains[0];
  for (int i = 1; i < 12; ++i) sum = _mm_add_ps(sum, chains[i]);
  return _mm_cvtss_f32(sum);
}

KW_MEASURED_LOOP KW_TARGET("avx2,fma") float loop_avx2(long rounds, const Start& start) {
  const __m256 factor = _mm256_set1_ps(kFactor), addend = _mm256_set1_ps(kAddend);
  __m256 chains[12];
  for (int i = 0; i < 12; ++i) chains[i] = _mm256_set1_ps(start[i]);
  for (long round = 0; round < rounds; ++round)
    for (auto& chain : chains) chain = _mm256_fmadd_ps(chain, factor, addend);
  __m256 sum = chains[0];
  for (int i = 1; i < 12; ++i) sum = _mm256_add_ps(sum, chains[i]);
  return _mm256_cvtss_f32(sum);
}

KW_MEASURED_LOOP KW_TARGET("avx512f") float loop_avx512(long rounds, const Start& start) {
  const __m512 factor = _mm512_set1_ps(kFactor), addend = _mm512_set1_ps(kAddend);
  __m512 chains[16];
  for (int i = 0; i < 16; ++i) chains[i] = _mm512_set1_ps(start[i]);
  for (long round = 0; round < rounds; ++round)
    for (auto& chain : chains) chain = _mm512_fmadd_ps(chain, factor, addend);
  __m512 sum = chains[0];
  for (int i = 1; i < 16; ++i) sum = _mm512_add_ps(sum, chains[i]);
  return _mm512_cvtss_f32(sum);
}

constexpr Loop kLoops[] = {
    {"sse2", loop_sse2, 12 * 4 * 2},
    {"avx2", loop_avx2, 12 * 8 * 2},
    {"avx512", loop_avx512, 16 * 16 * 2},
};

#elif defined(__aarch64__)

KW_MEASURED_LOOP float loop_neon(long rounds, const Start& start) {
  const float32x4_t factor = vdupq_n_f32(kFactor), addend = vdupq_n_f32(kAddend);
  float32x4_t chains[24];
  for (int i = 0; i < 24; ++i) chains[i] = vdupq_n_f32(start[i]);
  // NEON's accumulator is what is added to: the chain grows, but too slowly to leave float32's range.
  for (long round = 0; round < rounds; ++round)
    for (auto& chain : chains) chain = vfmaq_f32(chain, factor, addend);
  float32x4_t sum = chains[0];
  for (int i = 1; i < 24; ++i) sum = vaddq_f32(sum, chains[i]);
  return vgetq_lane_f32(sum, 0);
}

constexpr Loop kLoops[] = {{"neon", loop_neon, 24 * 4 * 2}};

#else
#error "no multiply-add loop for this architecture: add one above"
#endif

}  // namespace

Result<double> measure_fma_peak(std::string_view isa, int threads, double budget_seconds) {
  for (const Loop& loop : kLoops) {
    if (isa != loop.isa) continue;
    Start start{};
    for (int i = 0; i < kMostAccumulators; ++i) start[static_cast<std::size_t>(i)] = 1.0F + static_cast<float>(i) * 1e-3F;
    const FixedTeams fixed;
    const double seconds = best_seconds_per_round(
        threads, budget_seconds, [&](int, long rounds) { [[maybe_unused]] volatile float keep = loop.run(rounds, start); });
    return loop.flops_per_round / seconds * threads * 1e-9;
  }
  return bad_input(fmt::format("there is no peak to measure for the instruction set '{}'", isa),
                   "use one of those that vector_isas() gives");
}

}  // namespace kw
