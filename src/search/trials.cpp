#include "search/trials.h"

#include <algorithm>
#include <future>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/duration.h"
#include "base/hash.h"
#include "base/work_limit.h"
#include "profile/findings.h"
#include "search/gpu_findings.h"
#include "search/machine_code.h"
#include "search/profile_kernel.h"
#include "strategy/alignment.h"
#include "strategy/code_lines.h"

namespace kw {
namespace {

using TrialTime = std::chrono::steady_clock;

// Adds the time of a scope to one of the clock's fields.
class Stopwatch {
 public:
  explicit Stopwatch(double& total) : total_(total), start_(TrialTime::now()) {}
  ~Stopwatch() { total_ += std::chrono::duration<double>(TrialTime::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& total_;
  TrialTime::time_point start_;
};

// How long a candidate is timed, by the effort that a policy asks for.
struct Effort {
  double seconds;
  double good_enough;
  int least_pairs;
  int fewest_pairs;
};
Effort effort_of(int level) {
  if (level <= 0) return {0.3, 0.05, 4, 3};
  if (level == 1) return {0.8, 0.03, 6, 4};
  return {2.5, 0.015, 12, 6};
}

// What policies read: the finding, and the levers that could help.
std::string with_levers(const Finding& finding) {
  if (finding.levers.empty()) return finding.text;
  return fmt::format("{} (levers: {})", finding.text, fmt::join(finding.levers, ", "));
}

// Those who repair a kernel need more than the sentence that people read.
void note_diagnosis(Individual& individual, const Diagnosis& diagnosis) {
  individual.diagnosis = diagnosis.summary;
  if (!individual.proposal.author.empty()) individual.details = diagnosis;
}

// What takes the place of a compiler's outcome where there is nothing to compile.
CompileOutcome unwritten(const Individual& individual) {
  CompileOutcome outcome;
  outcome.verdict = Verdict::compile_failed;
  outcome.diagnosis.stage = "write";
  outcome.diagnosis.summary = individual.diagnosis;
  return outcome;
}

}  // namespace

struct Trials::Tried {
  Individual individual;
  std::optional<Candidate> candidate;
  std::optional<CompileOutcome> compiled;
  std::optional<CodeText> code;
  std::vector<Loop> loops;
  std::vector<std::string> ptx_lines;
  double compile_seconds = 0;
  std::optional<double> hopeless_call;  // seconds, where they were too many to go on
};

Result<Candidate> Trials::candidate_of(const Kernel& kernel, const KnobValues& knobs) {
  KW_TRY(const Dsl* dsl, dsl_named(kernel.dsl));
  return Candidate::of({"kernel" + std::string(dsl->extension), kernel.source, knobs}, kernel.dsl);
}

Result<Candidate> Trials::candidate_of(const Individual& individual) const {
  KW_TRY(Candidate candidate, candidate_of(individual.kernel, individual.proposal.knobs));
  if (on_gpu_ && individual.proposal.author.empty())
    candidate.rewrite_by(
        [this, strategies = individual.proposal.strategies](const ProblemDescription& other) -> Result<std::string> {
          KW_TRY(Kernel kernel, coder_.write_for(other, strategies));
          return std::move(kernel.source);
        });
  return candidate;
}

Result<std::unique_ptr<Trials>> Trials::open(Evaluator& evaluator, const ProblemSource& problem, const Coder& coder,
                                             const StrategyPool& pool, std::vector<std::string> considered) {
  std::unique_ptr<Trials> trials(new Trials(evaluator, problem, coder, pool));
  trials->considered_ = std::move(considered);
  trials->draw_ = trials->store_.pick_draw(false);
  const auto start = TrialTime::now();
  KW_TRY(trials->sets_, timing_sets(problem.description, trials->store_, trials->draw_, evaluator.oracle()));
  trials->seconds_per_set_ = seconds_since(start) / static_cast<double>(trials->sets_.sets.size());
  KW_TRY(trials->eager_,
         OracleSubject::make(evaluator.oracle(), problem.description.file, trials->sets_, "eager", evaluator.threads()));
  return trials;
}

Result<std::unique_ptr<Trials>> Trials::open_on_gpu(Evaluator& evaluator, const ProblemSource& problem, const Coder& coder,
                                                    const StrategyPool& pool, std::vector<std::string> considered) {
  std::unique_ptr<Trials> trials(new Trials(evaluator, problem, coder, pool));
  trials->considered_ = std::move(considered);
  trials->on_gpu_ = true;
  trials->draw_ = trials->store_.pick_draw(false);
  KW_TRY(const auto gpu, evaluator.gpu_timing());
  if (!gpu) return trials;
  KW_TRY(trials->sets_, timing_sets(problem.description, trials->store_, trials->draw_, evaluator.oracle()));
  KW_TRY(trials->eager_,
         OracleSubject::make(evaluator.oracle(), problem.description.file, trials->sets_, "eager", evaluator.threads(), gpu));
  return trials;
}

Result<double> Trials::plain_seconds() {
  KW_TRY(const Kernel plain, coder_.write({}));
  KW_TRY(Candidate candidate, candidate_of(plain, {}));
  KW_TRY(const CompileOutcome compiled, candidate.compile(problem_.description, evaluator_.compile_options()));
  if (!compiled.kernel) return 0.0;
  KW_TRY(const Estimation estimation, evaluator_.estimate(problem_, candidate, draw_));
  return estimation.estimate ? estimation.estimate->seconds : 0.0;
}

double Trials::usual_seconds_per_set() const {
  // A set has the inputs, eager's outputs and the reference in float64; the oracle makes about 230 MB of them a second.
  constexpr double kBytesPerSecond = 230e6, kSecondsPerSet = 0.05;
  double bytes = 0;
  for (const TensorSpec& input : problem_.description.inputs) bytes += static_cast<double>(input.span_bytes());
  for (const TensorSpec& output : problem_.description.outputs) bytes += 3 * static_cast<double>(output.span_bytes());
  return kSecondsPerSet + bytes / kBytesPerSecond;
}

double Trials::slowness() const { return std::max(1.0, seconds_per_set_ / usual_seconds_per_set()); }

double Trials::drawing_seconds() const {
  return static_cast<double>(verification_kinds().size() + sets_.sets.size()) * usual_seconds_per_set() * slowness();
}

void Trials::remember(const std::vector<Individual>& individuals) {
  for (const Individual& individual : individuals) {
    best_speedup_ = std::max(best_speedup_, individual.speedup);
    if (!eager_ && reference_seconds_ <= 0 && individual.passed()) reference_seconds_ = individual.seconds * individual.speedup;
    if (!individual.assembly_hash.empty() && individual.duplicate_of < 0)
      by_code_.insert_or_assign(individual.assembly_hash, individual);
  }
}

Status Trials::write(std::vector<Tried>& batch, const std::vector<Proposal>& proposals) {
  std::vector<Proposal> authored;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    Individual& individual = batch[i].individual;
    individual.proposal = proposals[i];
    if (proposals[i].author.empty()) {
      auto kernel = coder_.carry_out(proposals[i]);
      if (!kernel) {
        // What grows too large when it is written out is one kernel that fails.
        if (kernel.error().kind != ErrorKind::bad_input) return std::move(kernel.error());
        individual.diagnosis = kernel.error().message;
        continue;
      }
      individual.kernel = std::move(*kernel);
      KW_TRY(batch[i].candidate, candidate_of(individual));
    } else {
      authored.push_back(proposals[i]);
      places.push_back(i);
    }
  }
  if (authored.empty()) return {};
  if (author_ == nullptr)
    return bad_input(fmt::format("the run works with the model {}, which was not given", authored.front().author),
                     "name it with --model");
  std::vector<Written> written = author_->write(authored);
  for (std::size_t i = 0; i < written.size(); ++i) {
    Tried& tried = batch[places[i]];
    Individual& individual = tried.individual;
    individual.proposal = std::move(written[i].proposal);
    individual.kernel = std::move(written[i].kernel);
    individual.kernel.author = individual.proposal.author;
    individual.diagnosis = std::move(written[i].failure);
    individual.faults = std::move(written[i].faults);
    individual.remarks = std::move(written[i].remarks);
    individual.invented = std::move(written[i].invented);
    individual.prompts = std::move(written[i].prompts);
    individual.spent_seconds = written[i].seconds;
    if (!individual.kernel.source.empty()) {
      KW_TRY(tried.candidate, candidate_of(individual.kernel, individual.proposal.knobs));
    }
  }
  return {};
}

Result<std::vector<Individual>> Trials::run(const std::vector<Proposal>& proposals, std::int64_t first_index,
                                            const std::function<std::optional<WorkLimit::Clock::time_point>()>& until,
                                            const std::function<Status(const Individual&)>& on_done) {
  const WorkLimit at_first(until());
  std::vector<Tried> batch(proposals.size());
  for (std::size_t i = 0; i < proposals.size(); ++i) batch[i].individual.index = first_index + static_cast<std::int64_t>(i);
  {
    const Stopwatch watch(clock_.writing);
    KW_CHECK(write(batch, proposals));
  }
  {
    // Nothing is timed meanwhile, so that every core may compile.
    const Stopwatch watch(clock_.compiling);
    const auto at_once = static_cast<std::size_t>(std::max(1, evaluator_.machine().cores));
    for (std::size_t begin = 0; begin < batch.size(); begin += at_once) {
      std::vector<std::future<Result<CompileOutcome>>> compiling;
      const std::size_t end = std::min(batch.size(), begin + at_once);
      for (std::size_t i = begin; i < end; ++i)
        compiling.push_back(
            std::async(std::launch::async, [this, &tried = batch[i], ours = WorkLimit::current()]() -> Result<CompileOutcome> {
              const WorkLimit limit(ours);
              if (!tried.candidate) return unwritten(tried.individual);
              const Stopwatch own(tried.compile_seconds);
              return tried.candidate->compile(problem_.description, evaluator_.compile_options());
            }));
      std::optional<Error> failure;
      for (std::size_t i = begin; i < end; ++i) {
        auto compiled = compiling[i - begin].get();
        if (!compiled)
          failure = compiled.error();
        else
          batch[i].compiled = std::move(*compiled);
      }
      if (failure) return *failure;
      if (auto end = work_must_end()) return *end;
    }
  }
  std::vector<Individual> done;
  for (Tried& tried : batch) {
    const WorkLimit time(until());
    if (auto end = work_must_end()) return *end;
    const auto start = TrialTime::now();
    KW_CHECK(evaluate(tried));
    tried.individual.spent_seconds += tried.compile_seconds + std::chrono::duration<double>(TrialTime::now() - start).count();
    remember({tried.individual});
    {
      const Stopwatch watch(clock_.archiving);
      KW_CHECK(on_done(tried.individual));
    }
    done.push_back(std::move(tried.individual));
  }
  return done;
}

Status Trials::evaluate(Tried& tried) {
  Individual& individual = tried.individual;
  if (!tried.compiled->kernel) {
    individual.verdict = tried.compiled->verdict;
    note_diagnosis(individual, tried.compiled->diagnosis);
    return {};
  }
  KW_CHECK(read_code(tried));
  if (const auto same = by_code_.find(individual.assembly_hash); same != by_code_.end()) {
    const Individual& first = same->second;
    if (eager_ && first.passed() && individual.proposal.effort > first.proposal.effort) {
      // Asked for again, to be timed more carefully.
      individual.verdict = first.verdict;
      align_with_code(tried);
      return time(tried);
    }
    // The same code with other words around it: what is known of it counts, and nothing is run again.
    individual.duplicate_of = first.index;
    individual.verdict = first.verdict;
    individual.diagnosis = first.diagnosis;
    if (!individual.proposal.author.empty()) individual.details = first.details;
    individual.seconds = first.seconds;
    individual.speedup = first.speedup;
    individual.interval = first.interval;
    individual.share_of_ceiling = first.share_of_ceiling;
    if (individual.passed()) align_with_code(tried);
    return {};
  }
  if (on_gpu_) return estimate(tried);
  KW_TRY(const bool right, verify(tried));
  if (!right) return {};
  align_with_code(tried);
  // What is this slow was told by one call.
  return tried.hopeless_call ? note_as_hopeless(tried) : time(tried);
}

// A call that takes this long cannot win: as many of them as careful timing needs would take the time of kernels that can.
std::optional<double> Trials::hopeless_seconds() const {
  constexpr double kLeast = 0.25, kTimesEager = 5;
  if (sets_.sets.empty() || sets_.sets.front().eager_seconds <= 0) return std::nullopt;
  return std::max(kLeast, kTimesEager * sets_.sets.front().eager_seconds);
}

// Its speedup is a rough one, by single calls.
Status Trials::note_as_hopeless(Tried& tried) const {
  Individual& individual = tried.individual;
  const double eager = sets_.sets.front().eager_seconds;
  individual.seconds = *tried.hopeless_call;
  individual.speedup = eager / individual.seconds;
  individual.interval = {individual.speedup / 2, individual.speedup * 2};
  individual.findings.push_back(
      fmt::format("a call takes {:.2g} s and one of eager {:.2g} s: it was neither verified with more inputs "
                  "nor timed",
                  individual.seconds, eager));
  return {};
}

Status Trials::read_code(Tried& tried) {
  const Stopwatch watch(clock_.reading);
  const CompiledKernel& kernel = *tried.compiled->kernel;
  if (kernel.gpu) {
    KW_TRY(const std::string ptx, read_file(kernel.gpu->ptx));
    tried.ptx_lines = ptx_code_lines(ptx);
    tried.individual.assembly_hash = sha256(fmt::format("{}", fmt::join(tried.ptx_lines, "\n")));
    return {};
  }
  KW_TRY(const Disassembly disassembly, disassembly_of(kernel));
  tried.code = code_text(disassembly);
  tried.loops = innermost_loops(disassembly);
  tried.individual.assembly_hash = tried.code->hash;
  return {};
}

std::vector<std::string> Trials::rounding_claims(const Kernel& kernel) const {
  std::vector<std::string> found;
  for (const std::string& id : kernel.claims)
    if (const Strategy* strategy = pool_.find(id); strategy != nullptr && strategy->rounding) found.push_back(id);
  return found;
}

Result<bool> Trials::verify(Tried& tried) {
  const Stopwatch watch(clock_.verifying);
  const bool closer = !rounding_claims(tried.individual.kernel).empty();
  KW_TRY(const auto checked, evaluator_.check_briefly(problem_, *tried.candidate, draw_, closer, hopeless_seconds()));
  const VerdictRecord& judged = checked.verdict;
  tried.hopeless_call = checked.hopeless_call;
  Individual& individual = tried.individual;
  individual.verdict = judged.verdict;
  note_diagnosis(individual, judged.diagnosis);
  return individual.passed();
}

void Trials::align_with_code(Tried& tried) {
  const Stopwatch watch(clock_.reading);
  CodeView view;
  view.source = tried.individual.kernel.source;
  if (on_gpu_) {
    view.target = "gpu";
    view.ptx_lines = tried.ptx_lines;
  } else {
    view.target = target_of(tried.individual.kernel.dsl);
    view.assembly_lines = tried.code->assembly_lines;
    view.hot_loop_lines = tried.code->hot_loop_lines;
    view.isa = tried.code->isa;
    view.has_assembly = true;
  }
  tried.individual.strategies = align(pool_, view, tried.individual.kernel.claims, considered_);
  if (author_ != nullptr && !tried.individual.proposal.author.empty()) author_->settle(tried.individual);
}

Status Trials::estimate(Tried& tried) {
  // The model of the caches depends a little on the order of blocks.
  constexpr double kNoise = 0.002;
  Individual& individual = tried.individual;
  Evaluator::BriefEstimate brief;
  {
    const Stopwatch watch(clock_.verifying);
    KW_TRY(brief, evaluator_.estimate_briefly(problem_, *tried.candidate, draw_));
  }
  individual.verdict = brief.verdict.verdict;
  note_diagnosis(individual, brief.verdict.diagnosis);
  if (!brief.estimate) return {};
  align_with_code(tried);
  const EstimateRecord& record = *brief.estimate;
  individual.findings = estimate_findings(record);
  if (eager_) return time(tried);
  individual.seconds = record.seconds;
  if (reference_seconds_ <= 0) reference_seconds_ = record.seconds;
  individual.speedup = record.seconds > 0 ? reference_seconds_ / record.seconds : 0;
  individual.interval = {individual.speedup * (1 - kNoise), individual.speedup * (1 + kNoise)};
  individual.share_of_ceiling = record.share_of_ceiling;
  return {};
}

Status Trials::time(Tried& tried) {
  const Stopwatch watch(clock_.timing);
  Individual& individual = tried.individual;
  const Effort effort = effort_of(individual.proposal.effort);
  KW_TRY(MeasureOptions options, evaluator_.measure_options());
  options.seconds_per_baseline = effort.seconds;
  options.good_enough = effort.good_enough;
  options.least_pairs = effort.least_pairs;
  options.fewest_pairs = effort.fewest_pairs;
  options.hopeless_below = best_speedup_ / 2;
  KW_TRY(const Measurement measured, measure_briefly(*eager_, "eager", *tried.candidate, problem_.description, sets_,
                                                     evaluator_.machine(), evaluator_.output_check(problem_), options));
  if (!measured.timing) {
    individual.verdict = measured.verdict;
    note_diagnosis(individual, measured.diagnosis);
    return {};
  }
  const TimingRecord& timing = *measured.timing;
  individual.seconds = timing.seconds;
  individual.speedup = timing.comparisons.front().speedup;
  individual.interval = timing.comparisons.front().interval;
  individual.ratios = timing.comparisons.front().ratios;
  individual.share_of_ceiling = timing.share_of_ceiling;
  if (on_gpu_) return {};  // the counters have told what there is to tell
  ProfileInputs seen = profile_inputs(evaluator_.machine(), problem_.description, timing);
  seen.loops = std::move(tried.loops);
  for (const Finding& finding : findings(seen).findings) individual.findings.push_back(with_levers(finding));
  return {};
}

}  // namespace kw
