#include "verify/gpu_findings.h"

#include <gtest/gtest.h>

#include "vgpu/report_json.h"

namespace kw {
namespace {

GpuReport report_with(const std::string& kind, const std::string& allocation = "x") {
  vgpu::LaunchRecord launch;
  launch.kernel = "_Z5scalePKfPf";
  vgpu::Finding finding;
  finding.kind = kind;
  finding.message = "something at byte 4";
  finding.kernel = launch.kernel;
  finding.file = "build/kernel.cu";
  finding.line = 12;
  finding.thread = {3, 0, 0};
  finding.allocation = allocation;
  launch.report.findings.push_back(finding);
  Json json = launch;
  json["event"] = "launch";
  GpuReport report;
  report.lines = json.dump() + "\n";
  return report;
}

GpuJudgement judged(const GpuReport& report, bool in_prepare = false) {
  return std::move(judge_gpu_report(report, "mine.cu", in_prepare)).value();
}

TEST(GpuFindings, EachKindHasItsVerdict) {
  for (const auto& [kind, verdict] : std::vector<std::pair<std::string, Verdict>>{{"out_of_bounds", Verdict::crashed},
                                                                                  {"misaligned", Verdict::crashed},
                                                                                  {"divergent_barrier", Verdict::crashed},
                                                                                  {"launch_limit", Verdict::crashed},
                                                                                  {"deadlock", Verdict::timed_out},
                                                                                  {"shared_race", Verdict::wrong},
                                                                                  {"global_race", Verdict::wrong},
                                                                                  {"uninitialised", Verdict::wrong}})
    EXPECT_EQ(judged(report_with(kind)).verdict, verdict) << kind;
}

TEST(GpuFindings, ADiagnosisNamesLineThreadAndTensor) {
  const Diagnosis d = judged(report_with("out_of_bounds")).diagnosis;
  EXPECT_EQ(d.place, "mine.cu:12");
  EXPECT_EQ(d.pattern, "out_of_bounds");
  const std::string all = Json(d).dump();
  for (const char* word : {"scale(float const*, float*)", "thread (3, 0, 0)", "memory: x"})
    EXPECT_NE(all.find(word), std::string::npos) << word << " in " << all;
}

TEST(GpuFindings, TheWorstIsTold) {
  GpuReport both = report_with("shared_race");
  both.lines += report_with("out_of_bounds").lines;
  EXPECT_EQ(judged(both).verdict, Verdict::crashed);
}

GpuReport sampled(GpuReport report) {
  Json json = Json::parse(report.lines);
  json["blocks"] = 256;
  json["blocks_run"] = 20;
  report.lines = json.dump() + "\n";
  return report;
}

TEST(GpuFindings, ASampleTellsHowMuchWasRun) {
  const GpuJudgement one = judged(sampled(report_with("out_of_bounds")));
  EXPECT_TRUE(one.sample.is_sample);
  EXPECT_EQ(one.sample.blocks_run, 20u);
  EXPECT_EQ(one.sample.blocks, 256u);
  EXPECT_EQ(one.verdict, Verdict::crashed) << "the blocks that ran are at fault";
  EXPECT_FALSE(judged(report_with("out_of_bounds")).sample.is_sample);
}

TEST(GpuFindings, WhatFollowsASampleIsNotHeldAgainstTheKernel) {
  GpuReport both = sampled(report_with("unused"));
  Json first = Json::parse(both.lines);
  first["findings"] = Json::array();
  both.lines = first.dump() + "\n" + report_with("uninitialised").lines;
  EXPECT_EQ(judged(both).verdict, Verdict::passed);
  first["blocks_run"] = 256;
  both.lines = first.dump() + "\n" + report_with("uninitialised").lines;
  EXPECT_EQ(judged(both).verdict, Verdict::wrong);
}

TEST(GpuFindings, OnlyPlainStoresAreFinal) {
  EXPECT_FALSE(blocks_work_together("\tst.global.f32 [%rd1], %f1;\n\tatom.shared.add.u32 %r1, [%r2], 1;\n"));
  EXPECT_TRUE(blocks_work_together("\tatom.global.add.f32 %f1, [%rd1], %f2;\n"));
  EXPECT_TRUE(blocks_work_together("\t@%p1 red.relaxed.gpu.global.add.f32 [%rd1], %f2;\n"));
  EXPECT_TRUE(blocks_work_together("\tatom.add.f32 %f1, [%rd1], %f2;\n"));
  EXPECT_FALSE(blocks_work_together("\tcall.uni my_atom.x;\n"));
}

TEST(GpuFindings, UnusedSharedMemoryIsANote) {
  const GpuJudgement found = judged(report_with("uninitialised", "shared memory"));
  EXPECT_EQ(found.verdict, Verdict::passed);
  EXPECT_EQ(found.notes.size(), 1u);
}

TEST(GpuFindings, TheHostIsNotPartOfACall) {
  GpuReport report;
  EXPECT_EQ(judged(report).verdict, Verdict::passed);
  report.to_host = 4;
  EXPECT_EQ(judged(report).verdict, Verdict::forbidden);
  EXPECT_EQ(judged(report, true).verdict, Verdict::passed) << "kw_prepare may";
  report = {};
  report.to_device = 1 << 20;
  EXPECT_EQ(judged(report).verdict, Verdict::forbidden);
  report = {};
  report.error = 700;
  report.error_name = "cudaErrorIllegalAddress";
  EXPECT_EQ(judged(report).verdict, Verdict::crashed);
}

}  // namespace
}  // namespace kw
