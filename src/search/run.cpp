#include "search/run.h"

#include <algorithm>

#include <fmt/format.h>

#include "agent/library.h"
#include "base/duration.h"
#include "base/work_limit.h"
#include "machine/roofline.h"
#include "problem/workload.h"
#include "search/assembly.h"
#include "search/baseline_ahead.h"
#include "search/begin_run.h"
#include "search/gpu_findings.h"
#include "search/model_author.h"
#include "search/model_mix.h"
#include "search/part_problem.h"
#include "search/policy.h"
#include "search/profile_kernel.h"
#include "search/run_budget.h"
#include "search/run_lessons.h"
#include "search/task_brief.h"
#include "search/unknown_operations.h"
#include "search/winner.h"
#include "strategy/ledger.h"
#include "strategy/ledger_entries.h"
#include "strategy/lessons.h"

namespace kw {
namespace {

constexpr int kSmallContext = 16000;  // models with less are asked for one kernel at a time

class Run {
 public:
  Run(const RunRequest& request, const std::function<void(const RunProgress&)>& on_progress, const std::atomic<bool>& stop)
      : request_(request), on_progress_(on_progress), stop_(stop) {}

  // The whole run, top to bottom: problem, analysis, strategies, kernels, verification and measurement, archive.
  Result<RunOutcome> whole() {
    const WorkLimit interruption(std::nullopt, &stop_);
    if (Status begun = begin(); !begun) return before_the_search(std::move(begun.error()), record_, doing_);
    const WorkLimit time(budget_->end());
    if (Status searched = set_up_and_search(); !searched) {
      if (searched.error().kind != ErrorKind::stopped || !trials_)
        return before_the_search(std::move(searched.error()), record_, doing_);
      KW_CHECK(ended(searched.error().message, stop_ ? "stopped" : "done"));
    }
    KW_CHECK(conclude());
    return std::move(outcome_);
  }

 private:
  Status begin() {
    // Of a run that is resumed, what is left of its time is known once its record is there.
    const WorkLimit time(request_.resume.empty() ? RunBudget(request_.options, 0, start_).end() : std::nullopt);
    KW_CHECK(open_evaluator());
    KW_TRY(record_, begin_run(request_, evaluator_->archive()));
    if (record_.options.is_on_gpu()) KW_CHECK(choose_gpu(record_, *evaluator_, outcome_.notes));
    budget_.emplace(record_.options, record_.elapsed_seconds, start_);
    return {};
  }

  Status set_up_and_search() {
    say("reading the problem");
    KW_TRY(problem_, evaluator_->problem(record_.problem_file));
    KW_CHECK(analyse());
    KW_CHECK(gather_knowledge());
    KW_CHECK(open_in_archive());
    KW_CHECK(optimise_parts());
    KW_CHECK(choose_policy());
    KW_CHECK(open_trials());
    if (author_) trials_->with_author(*author_);
    if (!is_part()) prepare_confirmation();
    KW_CHECK(replay());
    return search();
  }

  void prepare_confirmation() {
    using TorchCompile = RunBudget::TorchCompile;
    if (!record_.options.is_on_gpu())
      baseline_ahead_ = BaselineAhead::where_it_pays(*evaluator_, problem_, trials_->sets(), budget_->left());
    budget_->plan_confirmation(trials_->drawing_seconds(),
                               baseline_ahead_              ? TorchCompile::translated_ahead
                               : request_.evaluator.compile ? TorchCompile::wanted
                                                            : TorchCompile::left_out,
                               trials_->slowness());
  }

  Status open_evaluator() {
    evaluator_ = request_.shared;
    if (evaluator_ != nullptr) return {};
    EvaluatorOptions options = request_.evaluator;
    options.progress = [this](std::string_view text) { say(text); };
    KW_TRY(own_evaluator_, Evaluator::open(std::move(options)));
    evaluator_ = own_evaluator_.get();
    return evaluator_->warm_up();
  }

  // A sub-problem's search: what it finds is verified and confirmed as a part of the whole.
  [[nodiscard]] bool is_part() const { return request_.shared != nullptr; }

  void say(std::string_view text) {
    doing_ = text;
    report();
  }

  void report() {
    if (!on_progress_) return;
    RunProgress progress;
    progress.run = &record_;
    progress.phase = phase_;
    progress.doing = doing_;
    progress.is_confirming = is_confirming_;
    const auto order = ranked(individuals_);
    progress.best = order.empty() ? nullptr : order.front();
    progress.evaluations = static_cast<int>(individuals_.size());
    for (const Individual& individual : individuals_)
      if (!individual.passed()) ++progress.failures[std::string(name_of(individual.verdict))];
    if (budget_) {
      progress.seconds_left = budget_->left();
      progress.elapsed_seconds = budget_->elapsed();
    }
    on_progress_(progress);
  }

  Status analyse() {
    const ProblemDescription& description = problem_.description;
    const Workload workload{description.flops, description.bytes, description.essential_bytes};
    KW_TRY(record_.zone, zone_of_problem(workload));
    record_.workload_class = workload_class(description).main;
    record_.shape = shape_words(description);
    if (!record_.problem_hash.empty() && record_.problem_hash != description.source_hash)
      return bad_input(fmt::format("{} has changed since run {} began", record_.problem_file, record_.id), "start a new run");
    record_.problem_name = description.name;
    record_.problem_hash = description.source_hash;
    record_.torch_version = description.torch_version;
    if (!record_.machine_id.empty() && record_.machine_id != evaluator_->machine().id)
      return bad_input(fmt::format("run {} began on another machine", record_.id), "start a new run here");
    record_.machine_id = evaluator_->machine().id;
    KW_TRY(const vgpu::GpuSheet sheet, evaluator_->gpu_sheet());
    if (record_.options.is_on_gpu()) record_.ceilings = ceilings_of(sheet, record_.options.precision);
    const auto coder_for = [&](const ProblemDescription& problem) {
      return record_.options.is_on_gpu()
                 ? gpu_playbook_coder(problem, sheet, record_.options.precision, record_.options.dsl)
                 : cpu_playbook_coder(record_.options.dsl, problem, evaluator_->machine(), evaluator_->threads());
    };
    auto coder = coder_for(description);
    const auto can_write = [&](const ProblemDescription& piece) { return coder_for(piece).ok(); };
    if (!coder && request_.model == nullptr)
      return with_pieces(std::move(coder.error()), unknown_operations_of(description, can_write), record_.options);
    if (!coder) outcome_.notes.push_back(fmt::format("the model works alone: {}", coder.error().message));
    coder_ = coder ? std::move(*coder) : no_coder();
    return {};
  }

  Result<std::string> zone_of_problem(const Workload& workload) {
    if (!record_.options.is_on_gpu()) return std::string(name_of(zone_of(evaluator_->machine(), workload, evaluator_->threads())));
    KW_TRY(const vgpu::GpuSheet sheet, evaluator_->gpu_sheet());
    return roofline_on_gpu(problem_.description, sheet, record_.options.precision).zone;
  }

  Status open_trials() {
    if (!record_.options.is_on_gpu()) {
      KW_TRY(trials_, Trials::open(*evaluator_, problem_, *coder_, run_pool_, usable_));
      return {};
    }
    KW_TRY(trials_, Trials::open_on_gpu(*evaluator_, problem_, *coder_, run_pool_, usable_));
    if (!record_.options.is_estimated()) return {};
    if (record_.reference_seconds <= 0) {
      say("the plain kernel, for comparison");
      KW_TRY(record_.reference_seconds, trials_->plain_seconds());
      record_.reference = record_.reference_seconds > 0 ? "the plain kernel" : "the first kernel";
    }
    trials_->compare_with(record_.reference_seconds);
    return {};
  }

  Status gather_knowledge() {
    KW_TRY(pool_, StrategyPool::load_own());
    const RunArchive archive = evaluator_->archive().runs();
    const bool is_new = record_.id.empty();
    KW_TRY(auto entries, archive.ledger(is_new ? std::nullopt : std::optional(record_.ledger_limit)));
    KW_TRY(auto lessons, archive.lessons(is_new ? std::nullopt : std::optional(record_.lesson_limit)));
    record_.ledger_limit = entries.limit;
    record_.lesson_limit = lessons.limit;
    ledger_ = Ledger(entries.items);
    for (const SimilarLesson& each : similar(lessons.items, record_.workload_class, record_.zone, coder_->features()))
      if (each.lesson->workload_class == record_.workload_class && each.lesson->best.dsl == record_.options.dsl)
        history_.push_back(*each.lesson);
    const auto fitting =
        pool_.applicable(coder_->features(), record_.zone, record_.workload_class, pool_.ids(target_of(record_.options.dsl)));
    // Of many layers each sub-problem is asked what it can use: the whole would be written for every strategy.
    usable_ = coder_->split() != nullptr ? fitting : usable_by(*coder_, pool_, fitting);
    run_pool_ = pool_;
    return request_.model == nullptr ? Status() : prepare_model(fitting);
  }

  // A model beside the playbook: what it is told, and who asks it.
  Status prepare_model(const std::vector<std::string>& fitting) {
    KW_TRY(const fs::path root, install_root());
    KW_TRY(Library library, Library::load(root, record_.options.dsl));
    library_.emplace(std::move(library));
    AuthorContext context;
    context.model = request_.model;
    context.library = &*library_;
    KW_TRY(context.brief, brief());
    context.pool = &run_pool_;
    context.ledger = &ledger_;
    context.individuals = &individuals_;
    context.fitting = fitting;
    context.seed = record_.options.seed;
    context.progress = [this](const std::string& text) { say(text); };
    author_ = std::make_unique<ModelAuthor>(std::move(context));
    fitting_ = fitting;
    std::stable_sort(fitting_.begin(), fitting_.end(), [&](const std::string& a, const std::string& b) {
      return ledger_.belief(*pool_.find(a), record_.zone, record_.workload_class).score >
             ledger_.belief(*pool_.find(b), record_.zone, record_.workload_class).score;
    });
    return {};
  }

  Result<TaskBrief> brief() {
    const std::string& precision = record_.options.precision;
    if (!record_.options.is_on_gpu())
      return task_brief(problem_, evaluator_->machine(), evaluator_->threads(), precision, coder_->features(), record_.options.dsl);
    KW_TRY(const vgpu::GpuSheet sheet, evaluator_->gpu_sheet());
    return gpu_task_brief(problem_, sheet, record_.options.dsl, precision, coder_->features());
  }

  Status open_in_archive() {
    KW_CHECK(evaluator_->archive_subjects(problem_));
    if (record_.id.empty()) {
      record_.options.threads = evaluator_->threads();
      KW_TRY(record_, evaluator_->archive().runs().start(record_));
    }
    KW_TRY(RunLock lock, RunLock::acquire(data_home() / "locks", record_.id));
    lock_.emplace(std::move(lock));
    return {};
  }

  // Of a problem of many layers every distinct sub-problem is searched on its own, those that take the most time first.
  Status optimise_parts() {
    const Split* split = coder_->split();
    if (split == nullptr) return {};
    say("reading the sub-problems");
    for_parts_ = kForParts * budget_->left().value_or(0);
    evaluations_for_parts_ = static_cast<int>(kForParts * record_.options.evaluations);
    KW_TRY(const std::vector<PartPlan> plans, plan_parts(*split, evaluator_->machine(), evaluator_->threads(), pool_, ledger_));
    record_.parts = part_records(*split, evaluator_->machine(), evaluator_->threads());
    std::vector<PartChoice> standard, searched, best;
    for (const PartPlan& plan : plans) {
      if (stop_ || record_.options.search == "generate") break;
      const auto options = part_options(record_.options, plan.share, for_parts_, evaluations_for_parts_);
      if (!options) break;
      phase_ = fmt::format("sub-problem {} of {}: {}", searched.size() + 1, plans.size(), plan.part->operations);
      report();
      auto choice = search_part(plan, *options);
      if (choice && *choice) searched.push_back(std::move(**choice));
      if (!choice)
        outcome_.notes.push_back(
            fmt::format("the sub-problem {} was not searched: {}", plan.part->operations, choice.error().message));
    }
    for (const PartPlan& plan : plans) {
      standard.push_back({plan.part->hash, plan.standard, {}});
      const auto found = std::ranges::find(searched, plan.part->hash, &PartChoice::part);
      best.push_back(found != searched.end() ? *found : choice_without_search(plan, plans, searched));
    }
    outcome_.notes.push_back(
        fmt::format("values between sub-problems take {:.1f} MB; in eager at least {:.1f} MB are alive at once",
                    static_cast<double>(place_values(*split).bytes) * 1e-6, static_cast<double>(split->eager_bytes) * 1e-6));
    assembled_ = {std::move(best)};
    if (!searched.empty()) assembled_.push_back(std::move(standard));
    return {};
  }

  // The best found for a sub-problem, now or by an earlier run that had as much time; nothing: no kernel of it passed.
  Result<std::optional<PartChoice>> search_part(const PartPlan& plan, RunOptions options) {
    KW_TRY(const fs::path file, write_part_problem(*plan.part));
    options.part_of = record_.id;
    RunRequest request;
    request.problem_file = file.string();
    request.options = options;
    request.evaluator = request_.evaluator;
    request.shared = evaluator_;
    KW_TRY(const auto known, evaluator_->archive().runs().of_problem(plan.part->hash));
    std::optional<RunRecord> done;
    for (const RunRecord& run : known) {
      if (run.machine_id != evaluator_->machine().id || run.options.threads != evaluator_->threads()) continue;
      if (run.options.precision != options.precision) continue;
      if (run.state != "done" && run.options.part_of == record_.id) request.resume = run.id;
      if (run.state == "done" && run.winner >= 0 && run.options.seconds >= options.seconds &&
          run.options.evaluations >= options.evaluations)
        done = run;
    }
    if (!done) {
      const std::string phase = phase_;
      const double before = budget_->elapsed();
      KW_TRY(const RunOutcome outcome, run_search(
                                           request,
                                           [&](const RunProgress& progress) {
                                             phase_ = fmt::format("{} ({})", phase, progress.phase);
                                             say(progress.doing);
                                           },
                                           stop_));
      phase_ = phase;
      for_parts_ -= budget_->elapsed() - before;
      evaluations_for_parts_ -= static_cast<int>(outcome.individuals.size());
      done = outcome.run;
    }
    PartRecord& record = *std::ranges::find(record_.parts, plan.part->hash, &PartRecord::part);
    record.run = done->id;
    if (done->winner < 0) return std::optional<PartChoice>();
    KW_TRY(const auto winner, evaluator_->archive().runs().individual(done->id, done->winner));
    if (!winner) return std::optional<PartChoice>();
    record.speedup = winner->speedup;
    return std::optional(PartChoice{plan.part->hash, winner->proposal.strategies, winner->proposal.knobs});
  }

  Status choose_policy() {
    SearchContext context;
    context.pool = &pool_;
    context.usable = usable_;
    context.zone = record_.zone;
    context.workload_class = record_.workload_class;
    context.ledger = &ledger_;
    context.history = history_;
    context.seed = record_.options.seed;
    context.islands = record_.options.islands;
    context.batch = std::max(2, evaluator_->machine().cores);
    context.write = [this](const std::vector<std::string>& strategies) { return coder_->write(strategies); };
    const int batch = context.batch;
    if (assembled_.empty()) {
      KW_TRY(policy_, make_policy(record_.options.search, std::move(context)));
    } else {
      std::set<std::string> rounding;
      for (const Strategy& strategy : pool_.all())
        if (strategy.rounding) rounding.insert(strategy.id);
      policy_ = std::make_unique<Assembly>(assembled_, std::move(rounding));
    }
    if (author_) {
      MixOptions mix;
      mix.model = record_.options.model;
      mix.model_first = mix.until_correct = record_.options.search == "generate";
      mix.batch = record_.options.search == "evolve" && request_.model->context_tokens() > kSmallContext ? batch : 1;
      mix.seed = record_.options.seed;
      mix.promising = fitting_;
      mix.conflict = [this](const std::string& a, const std::string& b) { return run_pool_.conflict(a, b); };
      mix.needs = [this](const std::string& id) { return run_pool_.find(id)->needs; };
      policy_ = std::make_unique<ModelMix>(std::move(policy_), std::move(mix));
    }
    return {};
  }

  // The policy hears again what it was told, in the same batches. Of a batch that was cut short the rest is done first.
  Status replay() {
    KW_TRY(std::vector<Individual> archived, evaluator_->archive().runs().individuals(record_.id));
    for (const Individual& each : archived) extend_pool(run_pool_, each.invented, outcome_.notes);
    std::size_t told = 0;
    while (told < archived.size()) {
      const std::vector<Proposal> asked = policy_->ask();
      if (asked.empty()) break;
      const std::size_t count = std::min(asked.size(), archived.size() - told);
      std::vector<Individual> batch(archived.begin() + static_cast<std::ptrdiff_t>(told),
                                    archived.begin() + static_cast<std::ptrdiff_t>(told + count));
      told += count;
      if (count == asked.size()) {
        policy_->tell(batch);
      } else {
        untold_ = std::move(batch);
        unfinished_.assign(asked.begin() + static_cast<std::ptrdiff_t>(count), asked.end());
      }
    }
    trials_->remember(archived);
    individuals_ = std::move(archived);
    return {};
  }

  Status search() {
    double kernel_seconds = 0;  // of the quickest batch so far, for one of its kernels: the first draws inputs, too
    double model_seconds = 0;   // the same where a model writes
    for (;;) {
      if (auto end = work_must_end()) return *end;
      if (auto why = budget_->spent_up(static_cast<int>(individuals_.size()), kernel_seconds)) return ended(*why, "done");
      if (unfinished_.empty()) unfinished_ = policy_->ask();
      if (unfinished_.empty()) return ended("nothing was left that seemed worth trying", "done");
      const bool asks_model = !unfinished_.front().author.empty() && unfinished_.front().task != "knobs";
      if (asks_model)
        if (auto why = budget_->spent_up(static_cast<int>(individuals_.size()), model_seconds)) return ended(*why, "done");
      phase_ = policy_->phase();
      report();
      std::vector<Proposal> proposals = unfinished_;
      if (record_.options.evaluations > 0)
        proposals.resize(std::min(proposals.size(), static_cast<std::size_t>(record_.options.evaluations) - individuals_.size()));
      const auto start = std::chrono::steady_clock::now();
      // Each may take as long as confirming the best still fits; where there is nothing to confirm, all of the time.
      auto done = try_all(proposals,
                          [this] { return is_part() || ranked(individuals_).empty() ? budget_->end() : budget_->end_of_search(); });
      KW_CHECK(keep_exchanges());
      if (!done && done.error().kind == ErrorKind::stopped && !work_must_end()) return ended(done.error().message, "done");
      KW_TRY(const std::vector<Individual> tried, std::move(done));
      const double took = seconds_since(start) / static_cast<double>(proposals.size());
      double& usual = asks_model ? model_seconds : kernel_seconds;
      usual = usual == 0 ? took / 2 : std::min(usual, took);
      untold_.insert(untold_.end(), tried.begin(), tried.end());
      unfinished_.erase(unfinished_.begin(), unfinished_.begin() + static_cast<std::ptrdiff_t>(tried.size()));
      if (unfinished_.empty()) {
        policy_->tell(untold_);
        untold_.clear();
      }
    }
  }

  Status ended(std::string why, std::string state) {
    record_.ending = std::move(why);
    record_.state = std::move(state);
    return {};
  }

  // The sub-problem's best: nothing is confirmed, for it counts only within the whole.
  Status conclude_part() {
    const auto order = ranked(individuals_);
    record_.winner = order.empty() ? -1 : order.front()->index;
    record_.elapsed_seconds = budget_->elapsed();
    const RunFacts facts{record_.id, record_.zone, record_.workload_class};
    KW_CHECK(evaluator_->archive().runs().finish(record_, ledger_entries(run_pool_, individuals_, 0, facts),
                                                 lessons_of(record_, individuals_, coder_->features())));
    outcome_.run = record_;
    outcome_.individuals = std::move(individuals_);
    return {};
  }

  Status conclude() {
    if (is_part()) return conclude_part();
    baseline_ahead_.reset();
    std::string command =
        fmt::format("kernelwright measure {} KERNEL{}", record_.problem_file, kernel_extension(record_.options.dsl));
    if (record_.options.is_on_gpu()) command += " --dsl " + record_.options.dsl;
    if (!record_.options.machine.empty()) command += " --machine " + record_.options.machine;
    const double before = budget_->elapsed();
    KW_TRY(Winner winner, confirm(command));
    record_.winner = winner.index;
    record_.confirmed = winner.confirmed ? winner.confirmed->timing : std::nullopt;
    record_.estimate = winner.confirmed ? winner.confirmed->estimate : std::nullopt;
    if (record_.options.is_estimated()) record_.reference_seconds = trials_->reference_seconds();
    if (record_.estimate) record_.profile = estimate_profile(*record_.estimate);
    // What was run on a virtual GPU to confirm it belongs to the estimate, which is all that there is.
    if (record_.estimate)
      for (const std::string& note : winner.confirmed->verdict.notes) record_.estimate->notes.push_back(note);
    if (record_.confirmed) KW_CHECK(profile_winner());
    const double confirming = budget_->elapsed() - before;
    record_.elapsed_seconds = budget_->elapsed();
    const TrialClock clock = trials_->clock();
    for (const auto& [stage, seconds] : {std::pair{"writing", clock.writing},
                                         {"compiling", clock.compiling},
                                         {"reading", clock.reading},
                                         {"verifying", clock.verifying},
                                         {"timing", clock.timing},
                                         {"archiving", clock.archiving},
                                         {"confirming", confirming}})
      record_.stages[stage] += seconds;
    const RunFacts facts{record_.id, record_.zone, record_.workload_class};
    const auto entries = ledger_entries(run_pool_, individuals_, 0, facts);
    KW_CHECK(evaluator_->archive().runs().finish(record_, entries, lessons_of(record_, individuals_, coder_->features())));
    outcome_.run = record_;
    outcome_.individuals = std::move(individuals_);
    outcome_.winner = std::move(winner.confirmed);
    for (std::string& note : winner.notes) outcome_.notes.push_back(std::move(note));
    KW_CHECK(note_model());
    outcome_.clock = clock;
    return {};
  }

  // With inputs that nothing has seen, in what is left of the time; a run that was interrupted keeps its best as it is.
  Result<Winner> confirm(const std::string& command) {
    Winner winner;
    if (auto end = work_must_end()) {
      const auto order = ranked(individuals_);
      winner.index = order.empty() ? -1 : order.front()->index;
      winner.ended = std::move(*end);
    } else {
      const auto announce = [this](std::int64_t index) {
        const auto left = seconds_of_work_left();
        is_confirming_ = true;
        phase_ = fmt::format("confirming kernel {} on fresh inputs{}", index, left ? fmt::format(", {:.0f} s at most", *left) : "");
        say("");
      };
      KW_TRY(winner,
             confirm_winner(*evaluator_, problem_, individuals_, *trials_, command, budget_->seconds_per_baseline(), announce,
                            [this](auto index, const auto& strategies) { return try_without(index, strategies); }));
    }
    if (winner.ended && stop_) KW_CHECK(ended(winner.ended->message, "stopped"));
    if (winner.ended && winner.index >= 0)
      winner.notes.push_back(
          fmt::format("kernel {} is not confirmed: {}{}; kernelwright optimize --resume {} --time 1m confirms it", winner.index,
                      winner.ended->message, doing_.empty() ? "" : " (" + doing_ + ")", record_.id));
    return winner;
  }

  // One more individual, where the winner turned out not to be precise enough.
  Status try_without(std::int64_t index, const std::vector<std::string>& strategies) {
    const Individual& refused = individuals_[static_cast<std::size_t>(index)];
    if (!refused.proposal.author.empty()) return {};
    KW_TRY([[maybe_unused]] const auto tried, try_all({proposal_without(refused, strategies)}, [this] { return budget_->end(); }));
    return {};
  }

  // Each is archived before the next is begun.
  Result<std::vector<Individual>> try_all(const std::vector<Proposal>& proposals,
                                          const std::function<std::optional<RunBudget::Moment>()>& until) {
    return trials_->run(proposals, static_cast<std::int64_t>(individuals_.size()), until, [this](const Individual& each) {
      individuals_.push_back(each);
      report();
      return evaluator_->archive().runs().add(record_.id, {&each, 1}, budget_->elapsed());
    });
  }

  Status keep_exchanges() {
    if (!author_) return {};
    for (const Exchange& exchange : author_->take_exchanges()) {
      KW_TRY([[maybe_unused]] const std::int64_t id, evaluator_->archive().runs().add_exchange(record_.id, exchange));
    }
    return {};
  }

  // What is worth knowing of the model's part.
  Status note_model() {
    if (!author_) return {};
    KW_CHECK(keep_exchanges());
    KW_TRY(outcome_.exchanges, evaluator_->archive().runs().exchanges(record_.id));
    for (const Individual& each : outcome_.individuals)
      for (const std::string& remark : each.remarks)
        if (remark.starts_with("profile findings")) outcome_.notes.push_back(remark);
    if (author_->broken()) outcome_.notes.push_back(fmt::format("the model: {}", author_->broken()->message));
    const auto* mix = dynamic_cast<const ModelMix*>(policy_.get());
    if (mix == nullptr) return {};
    if (const auto why = mix->model_is_off()) outcome_.notes.push_back(fmt::format("the model was asked no more: {}", *why));
    outcome_.notes.push_back(fmt::format("turns: playbook {}, {} {}", mix->bandit().turns("playbook"), record_.options.model,
                                         mix->bandit().turns(record_.options.model)));
    return {};
  }

  Status profile_winner() {
    const Individual& best = individuals_[static_cast<std::size_t>(record_.winner)];
    phase_ = "profiling the winner";
    report();
    KW_TRY(Candidate candidate, Trials::candidate_of(best.kernel, best.proposal.knobs));
    auto profile = profile_kernel(*evaluator_, problem_, candidate, trials_->sets(), *record_.confirmed);
    if (!profile && profile.error().kind == ErrorKind::stopped) {
      outcome_.notes.push_back("the winner was not profiled: " + profile.error().message);
      return {};
    }
    KW_TRY(record_.profile, std::move(profile));
    return {};
  }

  const RunRequest& request_;
  const std::function<void(const RunProgress&)>& on_progress_;
  const std::atomic<bool>& stop_;
  const RunBudget::Moment start_ = std::chrono::steady_clock::now();
  std::unique_ptr<Evaluator> own_evaluator_;
  Evaluator* evaluator_ = nullptr;
  RunRecord record_;
  std::optional<RunBudget> budget_;
  ProblemSource problem_;
  std::unique_ptr<Coder> coder_;
  StrategyPool pool_;
  Ledger ledger_;
  std::vector<Lesson> history_;
  std::vector<std::string> usable_, fitting_;
  StrategyPool run_pool_;  // with what models have added; the policy's own never changes
  std::optional<Library> library_;
  std::unique_ptr<ModelAuthor> author_;
  std::optional<RunLock> lock_;
  std::unique_ptr<Trials> trials_;
  std::unique_ptr<BaselineAhead> baseline_ahead_;
  std::unique_ptr<Policy> policy_;
  std::vector<std::vector<PartChoice>> assembled_;  // of a problem of many layers: kernels to begin with
  double for_parts_ = 0;                            // seconds that searches on sub-problems may still take
  int evaluations_for_parts_ = 0;
  std::vector<Individual> individuals_;
  std::vector<Proposal> unfinished_;  // the rest of the policy's last batch
  std::vector<Individual> untold_;    // and what is known of its beginning
  std::string phase_ = "setting up", doing_;
  bool is_confirming_ = false;
  RunOutcome outcome_;
};

}  // namespace

Result<RunOutcome> run_search(const RunRequest& request, const std::function<void(const RunProgress&)>& on_progress,
                              const std::atomic<bool>& stop) {
  return Run(request, on_progress, stop).whole();
}

}  // namespace kw
