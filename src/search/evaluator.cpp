#include "search/evaluator.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/cores.h"
#include "base/hash.h"
#include "machine/machine_cache.h"
#include "playbook/read.h"
#include "problem/simpler_graph.h"
#include "search/conditions.h"
#include "verify/check.h"
#include "verify/counted_call.h"
#include "verify/tolerance.h"
#include "vgpu/surroundings.h"

namespace kw {
namespace {

// Changes whenever verdicts or timings may.
constexpr std::string_view kEvaluatorVersion = "13";
// Where a kernel is clearly faster or slower, this share of its speedup is as close as a run has to know it.
constexpr double kToldEnough = 0.04;
// How much longer a virtual GPU takes to confirm a kernel than timing it against one baseline would.
constexpr double kBaselinesOfGpu = 3;
// Of a draw's seeds: that of the counted call, which is none of verification's.
constexpr std::uint64_t kCountingSeed = 1 << 20;

// Stands between verification and measurement: outputs of timed calls go through the same comparison.
OutputCheck check_of_outputs(const ProblemDescription& problem, const std::string& precision, const NearbyNoise& nearby) {
  return [&problem, precision, nearby](Session& session, const TensorSet& set, int out_slot) -> Result<std::optional<RunFailure>> {
    KW_TRY(CheckOutcome checked, check_outputs(session, problem, set, out_slot, precision, nearby));
    if (checked.verdict == Verdict::passed) return std::optional<RunFailure>{};
    RunFailure failure;
    failure.verdict = checked.verdict;
    failure.diagnosis = std::move(checked.diagnosis);
    failure.diagnosis.evidence.insert(failure.diagnosis.evidence.begin(),
                                      "the output of a timed call, after all verification had passed");
    return std::optional(failure);
  };
}

// Whoever asks now may call the kernel's file otherwise than whoever asked first; a search has no file for it at all.
Evaluated from_archive(Evaluation known, const std::string& command) {
  known.verdict.repeat = repeated_as(known.verdict.repeat, command);
  return {std::move(known), true};
}

}  // namespace

std::string repeated_as(const std::string& earlier, const std::string& command) {
  const std::size_t inputs = std::max(earlier.rfind(" --seed ") + 1, earlier.rfind(" --again") + 1);
  return inputs == 0 ? command : fmt::format("{} {}", command, earlier.substr(inputs));
}

Result<std::unique_ptr<Evaluator>> Evaluator::open(EvaluatorOptions options) {
  KW_TRY(const sandbox::Mode mode, sandbox::choose_mode(options.unsafe_no_sandbox));
  KW_TRY(const double ignored, stated_epsilon(options.precision));
  (void)ignored;
  MachineRequest request;
  request.progress = options.progress;
  KW_TRY(Machine machine, this_machine(request));
  const int threads = options.threads > 0 ? options.threads : machine.cores;
  if (threads > machine.cores)
    return bad_input(fmt::format("--threads {} is more than the {} cores that may be used here", threads, machine.cores),
                     "leave --threads out to use them all");
  const auto cores = usable_cores(threads);
  OracleOptions oracle{threads, cores, options.progress};
  std::unique_ptr<Evaluator> evaluator(new Evaluator(std::move(options), std::move(oracle)));
  evaluator->mode_ = mode;
  evaluator->machine_ = std::move(machine);
  evaluator->threads_ = threads;
  evaluator->cores_ = cores;
  KW_TRY(Archive archive, Archive::open(Archive::default_path()));
  evaluator->archive_ = std::make_unique<Archive>(std::move(archive));
  return evaluator;
}

Result<ProblemSource> Evaluator::problem(const fs::path& file) {
  KW_TRY(ProblemSource source, load_problem(file, oracle_));
  simplify_graph(source, oracle_, unread_operations);
  return source;
}

Result<std::optional<GpuTiming>> Evaluator::gpu_timing() const {
  if (!options_.device) return std::optional<GpuTiming>{};
  KW_TRY(vgpu::GpuSheet figures, gpu_sheet());
  return std::optional(GpuTiming{*options_.device, std::move(figures), options_.precision});
}

Result<MeasureOptions> Evaluator::measure_options() const {
  MeasureOptions measure;
  measure.mode = mode_;
  measure.threads = threads_;
  measure.cores = cores_;
  measure.seconds_per_baseline = options_.seconds_per_baseline;
  measure.good_enough = options_.good_enough;
  measure.told_enough = options_.told_enough;
  measure.least_pairs = options_.least_pairs;
  measure.eager = options_.eager;
  measure.compile = options_.compile;
  measure.call_timeout = options_.call_timeout;
  measure.progress = options_.progress;
  KW_TRY(measure.gpu, gpu_timing());
  return measure;
}

OutputCheck Evaluator::output_check(const ProblemSource& problem) {
  return check_of_outputs(problem.description, options_.precision,
                          nearby_noise_of(TensorStore(problem, options_.precision), oracle_));
}

Result<EvaluationKey> Evaluator::key_of(const ProblemSource& problem, const Candidate& candidate) const {
  EvaluationKey key;
  key.kernel_hash = sha256(candidate.source().text);
  key.knobs = candidate.source().knobs;
  key.dsl = candidate.dsl().name;
  key.problem_hash = problem.description.source_hash;
  key.machine_id = machine_.id;
  KW_TRY(key.compiler, candidate.dsl().compiler_version());
  KW_TRY(const auto flags, candidate.dsl().flags(compile_options()));
  key.flags = fmt::format("{}", fmt::join(flags, " "));
  key.torch_version = problem.description.torch_version;
  key.evaluator_version = kEvaluatorVersion;
  key.precision = options_.precision;
  key.sandbox = sandbox::name_of(mode_);
  key.threads = threads_;
  KW_TRY(key.conditions, conditions_of(options_, machine_, candidate.on_gpu()));
  return key;
}

Status Evaluator::archive_subjects(const ProblemSource& problem) {
  KW_CHECK(archive_->put_problem(problem.description));
  return archive_->put_machine(machine_);
}

VerifyOptions Evaluator::verify_options() const {
  VerifyOptions verify;
  verify.mode = mode_;
  verify.threads = threads_;
  verify.cores = cores_;
  verify.precision = options_.precision;
  verify.draw = options_.seed;
  verify.fresh = options_.fresh;
  verify.call_timeout = options_.call_timeout;
  verify.compile_timeout = options_.compile_timeout;
  verify.gpu = options_.gpu;
  verify.device = options_.device;
  verify.allow_torch = options_.allow_torch;
  verify.gpu_seconds = options_.gpu_seconds;
  verify.progress = options_.progress;
  return verify;
}

VerifyOptions Evaluator::fresh_inputs() const {
  VerifyOptions verify = verify_options();
  verify.fresh = true;
  verify.draw.reset();
  return verify;
}

Result<VerdictRecord> Evaluator::verify_briefly(const ProblemSource& problem, Candidate& candidate, std::uint64_t draw,
                                                bool closer) {
  KW_TRY(BriefCheck checked, check_briefly(problem, candidate, draw, closer, std::nullopt));
  return std::move(checked.verdict);
}

Result<Evaluator::BriefCheck> Evaluator::check_briefly(const ProblemSource& problem, Candidate& candidate, std::uint64_t draw,
                                                       bool closer, std::optional<double> hopeless_seconds) {
  VerifyOptions options = verify_options();
  options.brief = true;
  options.closer = closer;
  options.draw = draw;
  options.hopeless_seconds = hopeless_seconds;
  const TensorStore store(problem, options_.precision);
  KW_TRY(Verification verification, kw::verify(candidate, problem.description, store, oracle_, options));
  return BriefCheck{std::move(verification.record), verification.hopeless_call};
}

Result<Evaluator::BriefEstimate> Evaluator::estimate_briefly(const ProblemSource& problem, Candidate& candidate,
                                                             std::uint64_t draw) {
  VerifyOptions options = verify_options();
  options.brief = options.gpu_counters = true;
  options.draw = draw;
  const TensorStore store(problem, options_.precision);
  KW_TRY(Verification verification, kw::verify(candidate, problem.description, store, oracle_, options));
  BriefEstimate brief{std::move(verification.record), std::nullopt};
  if (brief.verdict.verdict != Verdict::passed) return brief;
  KW_TRY(const vgpu::GpuSheet sheet, gpu_sheet());
  KW_TRY(brief.estimate, estimate_of_report(verification.gpu_lines, candidate.kernel()->gpu->facts, problem.description, sheet,
                                            options_.precision));
  if (auto doubt = too_fast_to_be_true(*brief.estimate, problem.description, sheet)) {
    brief.verdict.verdict = Verdict::mistrusted;
    brief.verdict.diagnosis = std::move(*doubt);
    brief.estimate.reset();
  }
  return brief;
}

Result<Evaluation> Evaluator::judge(const ProblemSource& problem, Candidate& candidate, const std::string& command,
                                    const VerifyOptions& options, std::uint64_t& draw) {
  const TensorStore store(problem, options_.precision);
  KW_TRY(Verification verification, kw::verify(candidate, problem.description, store, oracle_, options));
  draw = verification.draw;
  Evaluation evaluation;
  KW_TRY(evaluation.key, key_of(problem, candidate));
  evaluation.kernel_source = candidate.source().text;
  evaluation.kernel_file = candidate.source().file;
  evaluation.verdict = std::move(verification.record);
  evaluation.verdict.chosen_seed = options.draw.value_or(0);
  if (candidate.on_gpu()) evaluation.verdict.gpu_budget_seconds = options_.gpu_seconds;
  evaluation.verdict.repeat = draw == 0 ? command + " --again" : fmt::format("{} --seed {}", command, draw);
  return evaluation;
}

Result<Evaluated> Evaluator::verify(const ProblemSource& problem, Candidate& candidate, const std::string& command) {
  KW_TRY(const EvaluationKey key, key_of(problem, candidate));
  if (!options_.again && !options_.fresh && !options_.seed) {
    KW_TRY(auto known, archive_->find_evaluation(key));
    if (known && still_holds(known->verdict, options_)) return from_archive(std::move(*known), command);
  }
  std::uint64_t draw = 0;
  KW_TRY(Evaluation evaluation, judge(problem, candidate, command, verify_options(), draw));
  return archived(problem, std::move(evaluation));
}

Result<Evaluated> Evaluator::archived(const ProblemSource& problem, Evaluation evaluation) {
  KW_CHECK(archive_subjects(problem));
  KW_TRY(evaluation.id, archive_->put_evaluation(evaluation));
  KW_TRY(auto kept, archive_->get_evaluation(evaluation.id));
  return Evaluated{std::move(*kept), false};
}

Result<vgpu::GpuSheet> Evaluator::gpu_sheet() const {
  KW_TRY(vgpu::GpuSheet sheet, vgpu::load_gpu_sheet(options_.gpu.empty() ? vgpu::kDefaultGpu : std::string_view(options_.gpu)));
  return options_.device ? vgpu::with_own_figures(std::move(sheet), *options_.device) : std::move(sheet);
}

Result<Estimation> Evaluator::estimate(const ProblemSource& problem, const Candidate& candidate, std::uint64_t draw) {
  KW_TRY(const vgpu::GpuSheet sheet, gpu_sheet());
  EstimateOptions estimate;
  estimate.mode = mode_;
  estimate.threads = threads_;
  estimate.cores = cores_;
  estimate.precision = options_.precision;
  estimate.call_timeout = options_.call_timeout;
  estimate.progress = options_.progress;
  estimate.seed = vgpu::mixed(draw, kCountingSeed);
  const TensorStore store(problem, options_.precision);
  estimate.check = [&](Session& session, const TensorSet& set, const GpuReport& report) -> Result<CountedOutputs> {
    KW_TRY(CountedCall call, check_counted_call(session, candidate, problem.description, set, report, options_.precision,
                                                nearby_noise_of(store, oracle_)));
    return CountedOutputs{std::move(call.failure), call.compared};
  };
  KW_TRY(const TensorSet set, store.get(draw, verification_kinds().front(), oracle_));
  return estimate_on_gpu(candidate, problem.description, set, sheet, estimate);
}

// A right kernel is counted and its time estimated; where its GPU is here, it is timed on it too.
Status Evaluator::estimate_and_time(const ProblemSource& problem, const Candidate& candidate, const std::string& command,
                                    std::uint64_t draw, Evaluation& known) {
  KW_TRY(Estimation estimation, estimate(problem, candidate, draw));
  if (estimation.estimate) {
    if (!options_.gpu_note.empty()) estimation.estimate->notes.push_back(options_.gpu_note);
    KW_CHECK(archive_->put_estimate(known.id, *estimation.estimate));
    return options_.device ? time(problem, candidate, command, draw, known) : Status{};
  }
  known.verdict.verdict = estimation.verdict;
  known.verdict.diagnosis = std::move(estimation.diagnosis);
  KW_TRY(known.id, archive_->put_evaluation(known));
  return {};
}

Status Evaluator::time(const ProblemSource& problem, const Candidate& candidate, const std::string& command, std::uint64_t draw,
                       Evaluation& known) {
  if (options_.progress) options_.progress("drawing inputs for timing");
  const TensorStore store(problem, options_.precision);
  KW_TRY(const TimingSets sets, timing_sets(problem.description, store, draw, oracle_));
  KW_TRY(const MeasureOptions options, measure_options());
  KW_TRY(Measurement measured,
         kw::measure(candidate, problem.description, sets, machine_, oracle_, output_check(problem), options));
  if (measured.timing) {
    known.timing = std::move(measured.timing);
    known.timing->budget_seconds = options_.seconds_per_baseline;
    return archive_->put_timing(known.id, *known.timing);
  }
  // The newest evaluation of a key counts: what timing found out overrules the earlier verdict.
  known.verdict.verdict = measured.verdict;
  known.verdict.diagnosis = std::move(measured.diagnosis);
  known.verdict.repeat = fmt::format("{} --seed {}", command, draw);
  KW_TRY(known.id, archive_->put_evaluation(known));
  return {};
}

bool Evaluator::is_measured(const Candidate& candidate, const Evaluation& known) const {
  if (known.verdict.verdict != Verdict::passed) return true;
  const bool timed = known.timing && still_holds(*known.timing, options_);
  if (!candidate.on_gpu()) return timed;
  return known.estimate && (!options_.device || timed);
}

// The verification and the calls that an earlier verdict on these inputs rests on; nothing where they go well.
Result<std::optional<Evaluation>> Evaluator::repeat(const ProblemSource& problem, Candidate& candidate,
                                                    const std::string& command) {
  std::uint64_t draw = 0;
  KW_TRY(Evaluation evaluation, judge(problem, candidate, command, verify_options(), draw));
  if (evaluation.verdict.verdict != Verdict::passed) return std::optional(std::move(evaluation));
  if (candidate.on_gpu()) return std::optional<Evaluation>{};
  const TensorStore store(problem, options_.precision);
  KW_TRY(const TimingSets sets, timing_sets(problem.description, store, draw, oracle_));
  KW_TRY(const MeasureOptions options, measure_options());
  KW_TRY(auto failure, check_timed_calls(candidate, problem.description, sets, machine_, output_check(problem), options));
  if (!failure) return std::optional<Evaluation>{};
  evaluation.verdict.verdict = failure->verdict;
  evaluation.verdict.diagnosis = std::move(failure->diagnosis);
  return std::optional(std::move(evaluation));
}

// A speedup rests on inputs that were drawn after the kernel was compiled, all of them: whoever wrote the kernel may have seen what
// is cached, and what a seed names.
Result<Evaluated> Evaluator::measure(const ProblemSource& problem, Candidate& candidate, const std::string& command) {
  KW_TRY(const EvaluationKey key, key_of(problem, candidate));
  KW_CHECK(warm_up());
  if (!options_.again && !options_.fresh && !options_.seed) {
    KW_TRY(auto known, archive_->find_evaluation(key));
    if (known && still_holds(known->verdict, options_) && is_measured(candidate, *known))
      return from_archive(std::move(*known), command);
  }
  if (options_.seed) {
    KW_TRY(auto failed, repeat(problem, candidate, command));
    if (failed) return archived(problem, std::move(*failed));
  }
  std::uint64_t draw = 0;
  KW_TRY(Evaluation judged, judge(problem, candidate, command, fresh_inputs(), draw));
  KW_TRY(Evaluated evaluated, archived(problem, std::move(judged)));
  Evaluation& known = evaluated.evaluation;
  if (known.verdict.verdict != Verdict::passed) return evaluated;
  KW_CHECK((candidate.on_gpu() ? estimate_and_time(problem, candidate, command, draw, known)
                               : time(problem, candidate, command, draw, known)));
  KW_TRY(auto kept, archive_->get_evaluation(known.id));
  return Evaluated{std::move(*kept), false};
}

Result<Evaluated> Evaluator::confirm(const ProblemSource& problem, Candidate& candidate, const std::string& command,
                                     double seconds_per_baseline) {
  const EvaluatorOptions usual = options_;
  options_.fresh = options_.again = true;
  options_.seed.reset();
  options_.seconds_per_baseline = seconds_per_baseline;
  options_.told_enough = kToldEnough;
  options_.gpu_seconds = std::min(options_.gpu_seconds, kBaselinesOfGpu * seconds_per_baseline);
  auto confirmed = measure(problem, candidate, command);
  options_ = usual;
  return confirmed;
}

Result<Measurement> Evaluator::measure_against(const ProblemSource& problem, Candidate& baseline, Candidate& candidate) {
  for (Candidate* each : {&baseline, &candidate}) {
    KW_TRY(const CompileOutcome compiled, each->compile(problem.description, compile_options()));
    if (!compiled.kernel) return Measurement{std::nullopt, compiled.verdict, compiled.diagnosis};
  }
  const TensorStore store(problem, options_.precision);
  KW_TRY(const MeasureOptions options, measure_options());
  if (options_.seed) {
    KW_TRY(const TimingSets named, timing_sets(problem.description, store, *options_.seed, oracle_));
    KW_TRY(auto failure, check_timed_calls(candidate, problem.description, named, machine_, output_check(problem), options));
    if (failure) return Measurement{std::nullopt, failure->verdict, std::move(failure->diagnosis)};
  }
  KW_TRY(Verification verified, kw::verify(candidate, problem.description, store, oracle_, fresh_inputs()));
  if (verified.record.verdict != Verdict::passed)
    return Measurement{std::nullopt, verified.record.verdict, std::move(verified.record.diagnosis)};
  KW_TRY(const TimingSets sets, timing_sets(problem.description, store, verified.draw, oracle_));
  return measure_kernels(baseline, candidate, problem.description, sets, machine_, output_check(problem), options);
}

}  // namespace kw
