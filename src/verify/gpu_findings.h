// What the virtual GPU saw of a call, judged: findings become a verdict with a diagnosis that names the source line.
#pragma once

#include "dsl/session.h"
#include "record/verdict.h"

namespace kw {

// How much of a call was run: a launch that takes too long is a sample of its blocks.
struct GpuSample {
  bool is_sample = false;
  std::size_t launches = 0;
  std::uint64_t blocks = 0, blocks_run = 0;
};

struct GpuJudgement {
  Verdict verdict = Verdict::passed;
  Diagnosis diagnosis;
  std::vector<std::string> notes;  // what is no fault by itself
  GpuSample sample;
};

// Whether a kernel's PTX updates memory that other blocks see by more than plain stores: then what a block wrote need not be final.
bool blocks_work_together(std::string_view ptx);

// `kernel_file` is what the user calls the source. kw_prepare may copy to and from the host; kw_kernel may not.
Result<GpuJudgement> judge_gpu_report(const GpuReport& report, const std::string& kernel_file, bool in_prepare);

}  // namespace kw
