// Proposals in, individuals out: written, compiled side by side, told from earlier ones by their code, verified
// briefly (the winner is verified in full, on other inputs), aligned with what they claim, and timed against an eager baseline that
// stays loaded. It decides nothing about what is tried next.
#pragma once

#include <map>

#include "base/work_limit.h"
#include "record/run.h"
#include "search/author.h"
#include "search/coder.h"
#include "search/evaluator.h"
#include "strategy/pool.h"

namespace kw {

// Where the time of trials goes, in seconds.
struct TrialClock {
  double writing = 0, compiling = 0, reading = 0, verifying = 0, timing = 0, archiving = 0;
};

class Trials {
 public:
  // Draws the inputs and loads the baseline: the oracle's slow part, once a run.
  static Result<std::unique_ptr<Trials>> open(Evaluator& evaluator, const ProblemSource& problem, const Coder& coder,
                                              const StrategyPool& pool, std::vector<std::string> considered);
  // The same for kernels in CUDA. Where their GPU is here they are timed on it, too; otherwise there is no baseline to time, and
  // speedups are over a reference, by estimates.
  static Result<std::unique_ptr<Trials>> open_on_gpu(Evaluator& evaluator, const ProblemSource& problem, const Coder& coder,
                                                     const StrategyPool& pool, std::vector<std::string> considered);
  // The reference's estimate; where none is set, the first kernel that passes sets it.
  void compare_with(double reference_seconds) { reference_seconds_ = reference_seconds; }
  [[nodiscard]] double reference_seconds() const { return reference_seconds_; }
  // The estimate of the kernel without any strategies; 0 where it fails.
  Result<double> plain_seconds();

  // Who carries out proposals that name an author; must outlive the trials.
  void with_author(Author& author) { author_ = &author; }

  // Individuals of earlier sessions of the run, so that their code is known again.
  void remember(const std::vector<Individual>& individuals);

  // In the order of the proposals; `on_done` hears of each before the next is begun. Where the work has to end meanwhile
  // (base/work_limit.h), an error of the kind `stopped`, after those that were done. `until` is asked before each: the moment when
  // it has to be over.
  Result<std::vector<Individual>> run(const std::vector<Proposal>& proposals, std::int64_t first_index,
                                      const std::function<std::optional<WorkLimit::Clock::time_point>()>& until,
                                      const std::function<Status(const Individual&)>& on_done);

  // The candidate of a kernel, as it would be evaluated.
  static Result<Candidate> candidate_of(const Kernel& kernel, const KnobValues& knobs);
  // The same of an individual: the playbook's can also be written for smaller shapes.
  [[nodiscard]] Result<Candidate> candidate_of(const Individual& individual) const;

  // What it claims that rounds otherwise than plain sums do.
  [[nodiscard]] std::vector<std::string> rounding_claims(const Kernel& kernel) const;

  [[nodiscard]] const TrialClock& clock() const { return clock_; }
  [[nodiscard]] const TimingSets& sets() const { return sets_; }
  // What drawing all inputs anew should take, for a verification in full and a measurement.
  [[nodiscard]] double drawing_seconds() const;
  // How many times as long as on a quiet machine drawing took; 1 where all was there.
  [[nodiscard]] double slowness() const;

 private:
  struct Tried;
  Trials(Evaluator& evaluator, const ProblemSource& problem, const Coder& coder, const StrategyPool& pool)
      : evaluator_(evaluator), problem_(problem), coder_(coder), pool_(pool), store_(problem, evaluator.options().precision) {}
  Status write(std::vector<Tried>& batch, const std::vector<Proposal>& proposals);
  Status evaluate(Tried& tried);
  [[nodiscard]] double usual_seconds_per_set() const;
  Result<bool> verify(Tried& tried);
  [[nodiscard]] std::optional<double> hopeless_seconds() const;
  Status note_as_hopeless(Tried& tried) const;
  Status time(Tried& tried);
  Status estimate(Tried& tried);
  Status read_code(Tried& tried);
  void align_with_code(Tried& tried);

  Evaluator& evaluator_;
  const ProblemSource& problem_;
  const Coder& coder_;
  const StrategyPool& pool_;
  Author* author_ = nullptr;
  TensorStore store_;
  std::vector<std::string> considered_;  // strategies that alignment looks for
  std::uint64_t draw_ = 0;               // the inputs of all trials
  TimingSets sets_;
  std::unique_ptr<OracleSubject> eager_;
  std::map<std::string, Individual> by_code_;  // hash of the assembly -> the individual that was judged with it last
  double best_speedup_ = 0;
  double seconds_per_set_ = 0;  // that drawing the inputs took
  bool on_gpu_ = false;
  double reference_seconds_ = 0;
  TrialClock clock_;
};

}  // namespace kw
