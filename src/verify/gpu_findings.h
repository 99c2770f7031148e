// What the virtual GPU saw of a call, judged: findings become a verdict with a diagnosis that names the source line.
#pragma once

#include "dsl/session.h"
#include "record/verdict.h"

namespace kw {

struct GpuJudgement {
  Verdict verdict = Verdict::passed;
  Diagnosis diagnosis;
  std::vector<std::string> notes;  // what is no fault by itself
};

// `kernel_file` is what the user calls the source. kw_prepare may copy to and from the host; kw_kernel may not.
Result<GpuJudgement> judge_gpu_report(const GpuReport& report, const std::string& kernel_file, bool in_prepare);

}  // namespace kw
