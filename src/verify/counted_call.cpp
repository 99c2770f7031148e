#include "verify/counted_call.h"

#include <algorithm>

#include "base/files.h"

namespace kw {
namespace {

constexpr double kTellingShare = 0.5;
constexpr std::string_view kWhich = "the call that was counted, after all verification had passed";

CountedCall failed(Verdict verdict, Diagnosis diagnosis) {
  RunFailure failure;
  failure.verdict = verdict;
  failure.diagnosis = std::move(diagnosis);
  failure.diagnosis.evidence.insert(failure.diagnosis.evidence.begin(), std::string(kWhich));
  return {std::move(failure), true};
}

}  // namespace

Result<bool> sample_is_final(const GpuSample& sample, const GpuBuild& build) {
  if (sample.launches != 1) return false;
  KW_TRY(const std::string ptx, read_file(build.ptx));
  return !blocks_work_together(ptx);
}

bool sample_tells(const GpuSample& sample, double written_share) {
  return written_share * static_cast<double>(sample.blocks) >= kTellingShare * static_cast<double>(sample.blocks_run);
}

double written_share_of(const CheckOutcome& checked) {
  return 1 - static_cast<double>(checked.unwritten) / static_cast<double>(std::max<std::int64_t>(checked.elements, 1));
}

Result<CountedCall> check_counted_call(Session& session, const Candidate& candidate, const ProblemDescription& problem,
                                       const TensorSet& set, const GpuReport& report, const std::string& precision,
                                       const NearbyNoise& nearby) {
  KW_TRY(const GpuJudgement judged, judge_gpu_report(report, candidate.source().file, false));
  if (judged.verdict != Verdict::passed) return failed(judged.verdict, judged.diagnosis);
  const GpuSample& sample = judged.sample;
  if (sample.is_sample) {
    KW_TRY(const bool final, sample_is_final(sample, *candidate.kernel()->gpu));
    if (!final) return CountedCall{std::nullopt, false};
  }
  KW_TRY(const CheckOutcome checked,
         check_outputs(session, problem, set, 0, precision, nearby, sample.is_sample ? Compared::written : Compared::all));
  // Verification has passed with the same inputs: the kernel tells calls apart, or does not compute the same each time.
  if (checked.verdict != Verdict::passed) return failed(Verdict::mistrusted, checked.diagnosis);
  return CountedCall{std::nullopt, !sample.is_sample || sample_tells(sample, written_share_of(checked))};
}

}  // namespace kw
