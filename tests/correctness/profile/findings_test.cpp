// What is said of a kernel, from made-up timings and from loops of real code.
#include "profile/findings.h"

#include <gtest/gtest.h>

#include <unistd.h>
#include <algorithm>

#include "base/files.h"
#include "record/strategy.h"
#include "support/tests_folder.h"

namespace kw {
namespace {

std::vector<Loop> loops_of_case(const std::string& name) {
  const auto text = read_file(kw::testing::tests_folder() / "cases/profile" / name);
  EXPECT_TRUE(text.ok()) << name;
  const auto code = parse_disassembly(text ? *text : "");
  EXPECT_TRUE(code.ok()) << name;
  return code ? innermost_loops(*code) : std::vector<Loop>{};
}

std::string text_of_kind(const ProfileRecord& record, const std::string& kind) {
  for (const Finding& finding : record.findings)
    if (finding.kind == kind) return finding.text;
  return "";
}

TEST(Findings, NothingKnownIsNothingSaid) {
  EXPECT_TRUE(findings({}).findings.empty());
  EXPECT_EQ(findings({}).method, "assembly");
}

TEST(Findings, AKernelNearItsCeilingIsBoundByIt) {
  ProfileInputs inputs;
  inputs.zone = "memory";
  inputs.share_of_ceiling = 0.92;
  inputs.loops = loops_of_case("gather_x86.txt");
  const auto record = findings(inputs);
  EXPECT_EQ(record.findings.front().text, "bandwidth-bound: 92% of the ceiling");
  inputs.zone = "compute";
  EXPECT_EQ(findings(inputs).findings.front().text, "compute-bound: 92% of the ceiling");
  inputs.share_of_ceiling = 0.3;
  EXPECT_EQ(text_of_kind(findings(inputs), "compute_bound"), "");
}

TEST(Findings, LoopsAreNamedWithTheirLine) {
  ProfileInputs inputs;
  inputs.loops = loops_of_case("reduction_x86.txt");
  const auto record = findings(inputs);
  EXPECT_EQ(text_of_kind(record, "not_vectorised"),
            "the inner loop of kw_kernel adds element by element (8 scalar additions beside 1 packed operation; line 8)");
  EXPECT_EQ(text_of_kind(record, "dependency_chain"),
            "one accumulator: the inner loop of kw_kernel waits 32 cycles for 8 operations in a row (line 8)");
  EXPECT_EQ(text_of_kind(record, "libm_calls"), "the inner loop of kw_kernel calls tanhf (line 11)");
}

TEST(Findings, AScalarLoopIsNotVectorised) {
  Loop loop;
  loop.function = "kw_kernel._omp_fn.0";
  loop.line = 48;
  loop.counts.instructions = 30;
  loop.counts.scalar_float_ops = 14;
  loop.counts.scalar_multiplications = 12;
  loop.weight = 1;
  loop.hot = true;
  ProfileInputs inputs;
  inputs.loops = {loop};
  EXPECT_EQ(text_of_kind(findings(inputs), "not_vectorised"),
            "the inner loop of kw_kernel is not vectorised (12 scalar multiplications; line 48)");
  inputs.loops[0].counts.packed_float_ops = 20;
  inputs.loops[0].counts.vector_ops[128] = 20;
  EXPECT_EQ(text_of_kind(findings(inputs), "not_vectorised"), "");
  inputs.vector_bits = 256;
  EXPECT_EQ(text_of_kind(findings(inputs), "narrow_vectors"),
            "the inner loop of kw_kernel uses 128-bit vectors; the machine has 256 bits (line 48)");
  inputs.loops[0].hot = false;
  EXPECT_TRUE(findings(inputs).findings.empty());
}

TEST(Findings, SpillsDivisionsAndGathersOfRealCode) {
  ProfileInputs inputs;
  inputs.loops = loops_of_case("spills_x86.txt");
  EXPECT_EQ(text_of_kind(findings(inputs), "spills"), "14 spills in the inner loop of kw_kernel (7 loads, 7 stores; line 5)");
  EXPECT_EQ(text_of_kind(findings(inputs), "dependency_chain"), "");
  inputs.loops = loops_of_case("gather_x86.txt");
  EXPECT_EQ(text_of_kind(findings(inputs), "divisions"), "1 division or square root in the inner loop of kw_kernel (line 3)");
  EXPECT_EQ(text_of_kind(findings(inputs), "gathers"), "4 gathers in the inner loop of kw_kernel (line 3)");
  EXPECT_EQ(text_of_kind(findings(inputs), "spills"), "");
}

TEST(Findings, TimingsSayHowTheTeamWorks) {
  ProfileInputs inputs;
  inputs.zone = "compute";
  inputs.threads = 2;
  inputs.seconds = 1e-3;
  inputs.one_thread_seconds = 1.1e-3;
  inputs.slowest_over_mean = 1.4;
  inputs.cold_seconds = 2.3e-3;
  const auto record = findings(inputs);
  EXPECT_EQ(text_of_kind(record, "no_scaling"), "two threads are 1.1x as fast as one");
  EXPECT_EQ(text_of_kind(record, "unbalanced"), "unbalanced: the slowest thread works 1.4x as long as the mean");
  EXPECT_EQ(text_of_kind(record, "cold_misses"), "a call with cold caches takes 2.3x as long as a warm one");
  EXPECT_EQ(record.findings.front().kind, "no_scaling");
  inputs.one_thread_seconds = 1.9e-3;
  EXPECT_EQ(text_of_kind(findings(inputs), "no_scaling"), "");
  // One thread can take most of a memory's bandwidth: no fault of the kernel's.
  inputs.one_thread_seconds = 1.1e-3;
  inputs.zone = "memory";
  inputs.share_of_ceiling = 0.9;
  EXPECT_EQ(text_of_kind(findings(inputs), "no_scaling"), "");
}

TEST(Findings, ShortCallsWaitForTheirThreads) {
  ProfileInputs inputs;
  inputs.threads = 2;
  inputs.seconds = 12e-6;
  inputs.region_seconds = 3e-6;
  EXPECT_EQ(text_of_kind(findings(inputs), "latency_bound"), "latency-bound: a call takes 12 us, starting two threads alone 3 us");
  inputs.seconds = 12e-3;
  EXPECT_TRUE(findings(inputs).findings.empty());
}

TEST(Findings, LargeOutputsWantStreamingStores) {
  ProfileInputs inputs;
  inputs.loops = loops_of_case("gather_x86.txt");
  inputs.zone = "memory";
  inputs.output_bytes = 64e6;
  inputs.cache_bytes = 32e6;
  EXPECT_NE(text_of_kind(findings(inputs), "store_bound"), "");
  inputs.loops[0].counts.streaming_stores = 1;
  EXPECT_EQ(text_of_kind(findings(inputs), "store_bound"), "");
  inputs.loops[0].counts.streaming_stores = 0;
  inputs.output_bytes = 16e6;
  EXPECT_EQ(text_of_kind(findings(inputs), "store_bound"), "");
}

TEST(Findings, ASimulationOverrulesTheGuessOfTheChain) {
  ProfileInputs inputs;
  inputs.loops = loops_of_case("reduction_x86.txt");
  inputs.mca = McaResult{};
  inputs.mca->cycles_per_iteration = 9;
  inputs.mca->throughput_cycles = 9;
  inputs.mca->resource_pressure = 0.8;
  inputs.mca->busiest_unit = "Zn3FP2";
  const auto record = findings(inputs);
  EXPECT_EQ(text_of_kind(record, "dependency_chain"), "");
  EXPECT_EQ(text_of_kind(record, "unit_bound"), "the inner loop of kw_kernel keeps Zn3FP2 busy: 9.0 cycles an iteration (line 8)");
}

TEST(Findings, CountersAreTheMethodWhereThereAreSome) {
  ProfileInputs inputs;
  inputs.counters = CounterValues{2e9, 1e9, 4e7, 2e7};
  const auto record = findings(inputs);
  EXPECT_EQ(record.method, "counters");
  EXPECT_EQ(text_of_kind(record, "cache_misses"), "20 misses of the last cache per 1000 instructions (0.5 instructions per cycle)");
}

TEST(Findings, AtMostFiveSortedByWeightWithKnownLevers) {
  ProfileInputs inputs;
  inputs.loops = loops_of_case("reduction_x86.txt");
  for (Loop& loop : loops_of_case("gather_x86.txt")) inputs.loops.push_back(loop);
  for (Loop& loop : loops_of_case("spills_x86.txt")) inputs.loops.push_back(loop);
  inputs.zone = "memory";
  inputs.threads = 2;
  inputs.seconds = 1e-3;
  inputs.one_thread_seconds = 1e-3;
  inputs.cold_seconds = 3e-3;
  inputs.slowest_over_mean = 1.5;
  inputs.output_bytes = 2;
  inputs.cache_bytes = 1;
  const auto record = findings(inputs);
  EXPECT_EQ(record.findings.size(), 5u);
  for (std::size_t i = 0; i < record.findings.size(); ++i) {
    const Finding& finding = record.findings[i];
    if (i > 0) {
      EXPECT_GE(record.findings[i - 1].weight, finding.weight);
    }
    EXPECT_GT(finding.weight, 0);
    EXPECT_LE(finding.weight, 1);
    EXPECT_FALSE(finding.levers.empty());
    for (const std::string& lever : finding.levers)
      EXPECT_NE(std::find(levers().begin(), levers().end(), lever), levers().end()) << lever;
  }
}

TEST(Findings, TheMachinesVectorWidth) {
  EXPECT_EQ(vector_bits_of({"sse2", "avx2", "fma"}), 256);
  EXPECT_EQ(vector_bits_of({"sse2", "avx2", "avx512f"}), 512);
  EXPECT_EQ(vector_bits_of({"neon"}), 128);
  EXPECT_EQ(vector_bits_of({}), 0);
}

constexpr const char* kMcaText = R"(Iterations:        100
Instructions:      700
Total Cycles:      614
Total uOps:        700

Dispatch Width:    6
uOps Per Cycle:    1.14
IPC:               1.14
Block RThroughput: 1.2


Cycles with backend pressure increase [ 67.10% ]
Throughput Bottlenecks: 
  Resource Pressure       [ 21.50% ]
  - Zn3FP1  [ 4.00% ]
  - Zn3FP2  [ 21.00% ]
  Data Dependencies:      [ 67.10% ]
  - Register Dependencies [ 65.00% ]
  - Memory Dependencies   [ 2.10% ]
)";

TEST(Mca, ItsReportIsReadAsNumbers) {
  const auto result = parse_mca(kMcaText);
  ASSERT_TRUE(result.has_value());
  EXPECT_DOUBLE_EQ(result->cycles_per_iteration, 6.14);
  EXPECT_DOUBLE_EQ(result->throughput_cycles, 1.2);
  EXPECT_DOUBLE_EQ(result->instructions_per_cycle, 1.14);
  EXPECT_DOUBLE_EQ(result->resource_pressure, 0.215);
  EXPECT_DOUBLE_EQ(result->register_dependencies, 0.65);
  EXPECT_DOUBLE_EQ(result->memory_dependencies, 0.021);
  EXPECT_EQ(result->busiest_unit, "Zn3FP2");
  EXPECT_TRUE(result->waits_for_results());
}

TEST(Mca, LoopsOfRealCodeAreSimulatedWhereTheToolIs) {
  const auto loops = loops_of_case("reduction_x86.txt");
  EXPECT_EQ(mca_source(loops[1], "x86"), "");  // has a call
  const std::string source = mca_source(loops[0], "x86");
  EXPECT_NE(source.find("vmulps (%rdx,%rax,1),%ymm4,%ymm0\n"), std::string::npos) << source;
  EXPECT_NE(source.find("jne kw_loop\n"), std::string::npos) << source;
  if (find_mca().empty()) GTEST_SKIP() << "llvm-mca is not installed";
  const auto result = simulate(loops[0], "x86");
#if defined(__x86_64__)
  ASSERT_TRUE(result.has_value());
  EXPECT_GT(result->cycles_per_iteration, 20);  // eight additions, one after the other
  EXPECT_TRUE(result->waits_for_results());
#endif
}

TEST(Counters, AreEitherThereAndCountOrSayWhyNot) {
  auto counters = Counters::open(getpid());
  EXPECT_EQ(counters.ok(), Counters::available());
  if (!counters) {
    EXPECT_NE(counters.error().message.find("counters"), std::string::npos);
    EXPECT_FALSE(counters.error().hint.empty());
    return;
  }
  ASSERT_TRUE(counters->start().ok());
  volatile double sum = 0;
  for (int i = 0; i < 100000; ++i) sum = sum + i;
  ASSERT_TRUE(counters->stop().ok());
  const auto values = counters->read();
  ASSERT_TRUE(values.ok());
  EXPECT_GT(values->instructions, 1e5);
}

}  // namespace
}  // namespace kw
