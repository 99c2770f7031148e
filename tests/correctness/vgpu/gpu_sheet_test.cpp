#include "vgpu/gpu_sheet.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "support/tests_folder.h"
#include "vgpu/estimate.h"
#include "vgpu/occupancy.h"
#include "vgpu/report_json.h"
#include "vgpu/toolkit.h"

namespace kw::vgpu {
namespace {

GpuSheet sheet_of(const char* name) {
  auto sheet = load_gpu_sheet(name);
  EXPECT_TRUE(sheet) << sheet.error().message;
  return *sheet;
}

std::string sheet_text() {
  auto text = read_file(kw::testing::tests_folder().parent_path() / "knowledge" / "gpus" / "a100.json");
  EXPECT_TRUE(text);
  return *text;
}

std::string refusal(const std::string& key, const Json& value) {
  Json json = *parse_json(sheet_text(), "sheet");
  json[Json::json_pointer(key)] = value;
  auto sheet = parse_gpu_sheet(json.dump(), "my.json");
  EXPECT_FALSE(sheet) << key;
  return sheet ? "" : sheet.error().message;
}

TEST(GpuSheet, AllTenAreThereAndMakeSense) {
  const auto names = gpu_sheet_names();
  EXPECT_EQ(names, (std::vector<std::string>{"a100", "b200", "h100", "h200", "l4", "l40s", "rtx4090", "rtx5090", "t4", "v100"}));
  for (const auto& name : names) {
    const GpuSheet sheet = sheet_of(name.c_str());
    EXPECT_GE(sheet.sources.size(), 2u) << name;
    EXPECT_TRUE(sheet.peak_tflops.contains("tensor_fp16")) << name;
  }
}

TEST(GpuSheet, PublishedFiguresOfAnA100) {
  const GpuSheet sheet = sheet_of("A-100");
  EXPECT_EQ(sheet.compute_capability(), "8.0");
  EXPECT_EQ(sheet.sm_count, 108);
  EXPECT_EQ(sheet.memory_gb_per_s, 2039);
  EXPECT_EQ(sheet.per_sm.shared_bytes_per_block_optin, 163u * 1024);
  const Limits limits = limits_of(sheet, 1 << 30);
  EXPECT_EQ(limits.sm_count, 108);
  EXPECT_EQ(limits.global_bytes, 1u << 30);
  EXPECT_EQ(limits.shared_per_block, 48u * 1024);
  EXPECT_EQ(limits_of(sheet).global_bytes, 80ull << 30);
}

TEST(GpuSheet, UnknownNameListsTheKnownOnes) {
  auto sheet = load_gpu_sheet("gtx9000");
  ASSERT_FALSE(sheet);
  EXPECT_EQ(sheet.error().kind, ErrorKind::bad_input);
  EXPECT_NE(sheet.error().message.find("gtx9000"), std::string::npos);
  EXPECT_NE(sheet.error().hint.find("rtx4090"), std::string::npos);
}

TEST(GpuSheet, ImpossibleFiguresAreNamed) {
  EXPECT_TRUE(parse_gpu_sheet(sheet_text(), "my.json"));
  EXPECT_NE(refusal("/sm_count", 0).find("my.json: sm_count"), std::string::npos);
  EXPECT_NE(refusal("/sm_count", 1080).find("peak_tflops.fp32"), std::string::npos);
  EXPECT_NE(refusal("/boost_clock_mhz", 100).find("boost_clock_mhz"), std::string::npos);
  EXPECT_NE(refusal("/compute_capability", "eight").find("compute_capability"), std::string::npos);
  EXPECT_NE(refusal("/sources", Json::array()).find("source"), std::string::npos);
  EXPECT_NE(refusal("/peak_tflops/fp23", 1).find("fp23"), std::string::npos);
  EXPECT_NE(refusal("/latency_cycles/l3", 1).find("l3"), std::string::npos);
  EXPECT_NE(refusal("/per_sm/registers", "many").find("my.json"), std::string::npos);
  EXPECT_NE(refusal("/per_sm/shared_bytes_per_block_optin", 1 << 20).find("optin"), std::string::npos);
  EXPECT_FALSE(parse_gpu_sheet("{", "my.json"));
  EXPECT_FALSE(load_gpu_sheet("no/such/file.json"));
}

TEST(Occupancy, ByTheCalculatorsArithmetic) {
  const GpuSheet a100 = sheet_of("a100"), ada = sheet_of("rtx4090"), t4 = sheet_of("t4");
  const auto check = [](const Occupancy& o, int blocks, double share, const char* limiter) {
    EXPECT_EQ(o.blocks_per_sm, blocks);
    EXPECT_DOUBLE_EQ(o.share, share);
    EXPECT_EQ(o.limiter, limiter);
  };
  check(occupancy_of(a100, 256, 32, 0), 8, 1.0, "threads");
  check(occupancy_of(a100, 256, 64, 0), 4, 0.5, "registers");
  check(occupancy_of(a100, 256, 65, 0), 3, 0.375, "registers");  // 65 registers become 72: 7 warps a scheduler
  check(occupancy_of(a100, 32, 16, 0), 32, 0.5, "blocks");
  check(occupancy_of(a100, 128, 32, 40 * 1024), 4, 0.25, "shared memory");  // 41 KB each of 164
  check(occupancy_of(a100, 128, 32, 163 * 1024), 1, 4 / 64.0, "shared memory");
  check(occupancy_of(a100, 128, 32, 164 * 1024), 0, 0, "shared memory");
  check(occupancy_of(ada, 1024, 32, 0), 1, 32 / 48.0, "threads");
  check(occupancy_of(t4, 1024, 64, 0), 1, 1.0, "threads");
  check(occupancy_of(a100, 1024, 128, 0), 0, 0, "registers");
  EXPECT_EQ(occupancy_of(a100, 1025, 0, 0).blocks_per_sm, 0);
  EXPECT_EQ(occupancy_of(a100, 256, 0, 0).blocks_per_sm, 8);  // registers unknown
}

TEST(Occupancy, SharedMemoryForSoManyBlocks) {
  const GpuSheet a100 = sheet_of("a100");
  for (const int blocks : {1, 2, 3, 7, 16}) {
    const std::uint64_t bytes = shared_for_blocks(a100, blocks, 512);
    EXPECT_GE(occupancy_of(a100, 32, 16, bytes + 512).blocks_per_sm, blocks);
    EXPECT_LT(occupancy_of(a100, 32, 16, bytes + 512 + 128).blocks_per_sm, blocks) << blocks;
  }
  EXPECT_EQ(shared_for_blocks(a100, 1, 200 * 1024), 0u);
}

LineCounters copying(std::uint64_t bytes) {
  LineCounters c;
  const std::uint64_t warps = bytes / 512;  // 16 bytes a lane
  c.warp_instructions = warps * 12;
  c.lane_instructions = c.warp_instructions * 32;
  c.issued[static_cast<std::size_t>(Pipe::integer)] = warps * 6;
  c.issued[static_cast<std::size_t>(Pipe::memory)] = warps * 2;
  c.global_load_requests = c.global_store_requests = warps;
  c.global_load_sectors = c.global_store_sectors = warps * 16;
  c.global_load_bytes = c.global_store_bytes = bytes;
  c.l1_misses = c.l2_misses = warps * 32;
  c.dram_bytes = 2 * bytes;
  return c;
}

TEST(Estimate, ALargeCopyIsLimitedByMemory) {
  const GpuSheet a100 = sheet_of("a100");
  const Estimate e = estimate_launch(a100, copying(1ull << 30), {(1ull << 30) / 512 / 8, 256, 32, 0, "tensor_fp16"});
  EXPECT_EQ(e.limiting, "memory");
  const double floor = 2 * 1073741824.0 / 2039e9;
  EXPECT_GT(e.seconds, floor);
  EXPECT_LT(e.seconds, floor * 1.3);
  EXPECT_NEAR(e.share_of_speed_of_light, floor / e.seconds, 1e-9);
  EXPECT_GT(e.share_of_speed_of_light, 0.75);
  EXPECT_EQ(e.occupancy.blocks_per_sm, 8);
}

TEST(Estimate, AFasterMemoryMakesItFaster) {
  const LaunchShape shape{262144, 256, 32, 0, "tensor_fp16"};
  const double a100 = estimate_launch(sheet_of("a100"), copying(1ull << 30), shape).seconds;
  const double h100 = estimate_launch(sheet_of("h100"), copying(1ull << 30), shape).seconds;
  const double t4 = estimate_launch(sheet_of("t4"), copying(1ull << 30), shape).seconds;
  EXPECT_LT(h100, a100);
  EXPECT_LT(a100, t4);
}

TEST(Estimate, ASmallLaunchIsLimitedByTheLaunch) {
  const Estimate e = estimate_launch(sheet_of("a100"), copying(4096), {1, 256, 32, 0, "tensor_fp16"});
  EXPECT_EQ(e.limiting, "launch");
  EXPECT_LT(e.waves, 0.01);
}

TEST(Estimate, TensorCoresByTheirKind) {
  LineCounters c;
  c.flops_tensor = 1ull << 45;
  c.warp_instructions = c.flops_tensor / 4096;
  c.issued[static_cast<std::size_t>(Pipe::tensor)] = c.warp_instructions;
  const LaunchShape fp16{108 * 1000, 256, 128, 0, "tensor_fp16"}, tf32{108 * 1000, 256, 128, 0, "tensor_tf32"};
  const Estimate half = estimate_launch(sheet_of("a100"), c, fp16), single = estimate_launch(sheet_of("a100"), c, tf32);
  EXPECT_EQ(half.limiting, "tensor");
  EXPECT_EQ(single.limiting, "tensor");
  EXPECT_NEAR(single.resources.front().seconds / half.resources.front().seconds, 2, 0.01);
  const Estimate without = estimate_launch(sheet_of("t4"), c, tf32);
  EXPECT_NE(without.notes.front().find("tensor_tf32"), std::string::npos);
}

TEST(Estimate, BankConflictsAndBadCoalescingCostAndAreNoted) {
  const LaunchShape shape{10800, 256, 32, 16384, "tensor_fp16"};
  LineCounters c = copying(1 << 26);
  c.shared_load_requests = 1 << 22;
  c.shared_wavefronts = 1 << 22;
  const Estimate clean = estimate_launch(sheet_of("a100"), c, shape);
  c.shared_wavefronts = 32 << 22;
  c.shared_conflicts = 31 << 22;
  const Estimate conflicts = estimate_launch(sheet_of("a100"), c, shape);
  EXPECT_EQ(conflicts.limiting, "shared memory");
  EXPECT_GT(conflicts.seconds, 4 * clean.seconds);
  EXPECT_NE(Json(conflicts)["notes"].dump().find("bank conflicts are 97%"), std::string::npos);
  c = copying(1 << 26);
  c.global_load_bytes = c.global_store_bytes = 1 << 23;
  EXPECT_NE(Json(estimate_launch(sheet_of("a100"), c, shape))["notes"].dump().find("coalesce"), std::string::npos);
}

TEST(Estimate, AHalfEmptyLastWaveCostsAsMuchAsAFullOne) {
  LineCounters c;
  c.warp_instructions = c.issued[static_cast<std::size_t>(Pipe::fp32)] = 108ull << 24;
  const Estimate full = estimate_launch(sheet_of("a100"), c, {108, 1024, 32, 0, ""}),
                 more = estimate_launch(sheet_of("a100"), c, {109, 1024, 32, 0, ""});
  EXPECT_NEAR(more.seconds / full.seconds, 2 * 108.0 / 109, 0.02);
}

TEST(Estimate, IsCalledOneInJson) {
  const Json json = estimate_launch(sheet_of("a100"), copying(1 << 20), {512, 256, 0, 0, "tensor_fp16"});
  EXPECT_EQ(json.at("what"), "estimate");
  EXPECT_NE(json.at("notes").dump().find("registers are unknown"), std::string::npos);
}

TEST(Estimate, KindOfTensorInstructions) {
  EXPECT_EQ(tensor_kind_of("add.f32 %f1, %f2, %f3;"), "tensor_fp16");
  EXPECT_EQ(tensor_kind_of("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {..}"), "tensor_bf16");
  EXPECT_EQ(tensor_kind_of(
                "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1};\nmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 x"),
            "tensor_tf32");
  EXPECT_EQ(tensor_kind_of("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {}"), "tensor_fp64");
  EXPECT_EQ(tensor_kind_of("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {}"), "tensor_int8");
}

TEST(ReportJson, ComesBackAsItWas) {
  LaunchRecord record;
  record.index = 3;
  record.kernel = "_Z1kv";
  record.grid = {4, 5, 6};
  record.tensor_kind = "tensor_bf16";
  Finding finding;
  finding.kind = "misaligned";
  finding.thread = {7, 0, 1};
  finding.count = 12;
  record.report.findings.push_back(finding);
  record.report.counters.warp_instructions = 100;
  record.report.counters.issued[static_cast<std::size_t>(Pipe::tensor)] = 9;
  record.report.counters.lines[{"a.cu", 12}].shared_conflicts = 4;
  const Json json = record;
  const auto back = json.get<LaunchRecord>();
  EXPECT_EQ(Json(back), json);
  EXPECT_EQ(back.report.counters.lines.at({"a.cu", 12}).shared_conflicts, 4u);
  EXPECT_EQ(back.report.findings.at(0).thread, (Dim3{7, 0, 1}));
  EXPECT_FALSE(json.at("counters").contains("atomics")) << "what is 0 is left out";
}

TEST(Toolkit, FactsOfPtxas) {
  const auto facts = parse_ptxas_output(
      "ptxas info    : 15 bytes gmem, 16 bytes cmem[3]\n"
      "ptxas info    : Compiling entry function '_Z1kPfid' for 'sm_80'\n"
      "ptxas info    : Function properties for _Z1kPfid\n"
      "    8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n"
      "ptxas info    : Used 24 registers, used 1 barriers, 1024 bytes smem, 376 bytes cmem[0]\n"
      "ptxas info    : Compiling entry function '_Z1gv' for 'sm_80'\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 255 registers, 352 bytes cmem[0]\n");
  ASSERT_EQ(facts.size(), 2u);
  const PtxasFacts& k = facts.at("_Z1kPfid");
  EXPECT_EQ(std::make_tuple(k.registers, k.stack_bytes, k.spill_store_bytes, k.spill_load_bytes, k.shared_bytes),
            std::make_tuple(24, 8, 12, 16, 1024));
  EXPECT_EQ(facts.at("_Z1gv").registers, 255);
  EXPECT_TRUE(parse_ptxas_output("nothing\n").empty());
}

}  // namespace
}  // namespace kw::vgpu
