#include "search/one_kernel.h"

#include <algorithm>

#include <fmt/format.h>

#include "agent/conductor.h"
#include "agent/cpp_shape.h"
#include "search/coder.h"
#include "search/lineage.h"
#include "search/model_author.h"
#include "search/task_brief.h"
#include "search/trials.h"

namespace kw {
namespace {

// Verifies an attempt that has a source and takes down what came of it.
Status judge_attempt(Evaluator& evaluator, const ProblemSource& problem, Individual& attempt, const std::string& command) {
  KW_TRY(Candidate candidate, Trials::candidate_of(attempt.kernel, {}));
  KW_TRY(const Evaluated evaluated, evaluator.verify(problem, candidate, command));
  const VerdictRecord& verdict = evaluated.evaluation.verdict;
  attempt.verdict = verdict.verdict;
  attempt.diagnosis = verdict.diagnosis.summary;
  attempt.details = verdict.diagnosis;
  return {};
}

Individual attempt_of(Written written, std::int64_t index) {
  Individual attempt;
  attempt.index = index;
  attempt.proposal = std::move(written.proposal);
  attempt.kernel = std::move(written.kernel);
  attempt.kernel.author = attempt.proposal.author;
  attempt.faults = std::move(written.faults);
  attempt.remarks = std::move(written.remarks);
  attempt.verdict = Verdict::compile_failed;
  attempt.diagnosis = written.failure;
  attempt.details.stage = "write";
  attempt.details.summary = written.failure;
  attempt.spent_seconds = written.seconds;
  return attempt;
}

}  // namespace

Result<OneKernelOutcome> one_kernel(const OneKernelRequest& request, const std::function<void(const std::string&)>& progress,
                                    const std::atomic<bool>& stop) {
  EvaluatorOptions options = request.evaluator;
  options.progress = [&](std::string_view text) { progress(std::string(text)); };
  KW_TRY(const auto evaluator, Evaluator::open(std::move(options)));
  KW_CHECK(evaluator->warm_up());
  KW_TRY(const ProblemSource problem, evaluator->problem(request.problem_file));
  const bool on_gpu = is_for_gpu(request.dsl);
  const std::string& precision = request.evaluator.precision;
  KW_TRY(const vgpu::GpuSheet sheet, evaluator->gpu_sheet());
  const auto coder = on_gpu ? gpu_playbook_coder(problem.description, sheet, precision, request.dsl)
                            : cpu_playbook_coder(request.dsl, problem.description, evaluator->machine(), evaluator->threads());
  KW_TRY(StrategyPool pool, StrategyPool::load_own());
  for (const std::string& id : request.strategies)
    if (pool.find(id) == nullptr) return bad_input(fmt::format("there is no strategy '{}'", id), "knowledge/strategies lists them");
  KW_TRY(const fs::path root, install_root());
  KW_TRY(const Library library, Library::load(root, request.dsl));
  const Ledger ledger;
  OneKernelOutcome outcome;
  outcome.problem = problem.description;
  outcome.repeat = fmt::format("kernelwright verify {} KERNEL{}{}", request.problem_file, kernel_extension(request.dsl),
                               on_gpu ? " --dsl " + request.dsl : "");

  AuthorContext context;
  context.model = request.model;
  context.library = &library;
  const Features features = coder ? (*coder)->features() : Features{};
  KW_TRY(context.brief, on_gpu ? gpu_task_brief(problem, sheet, request.dsl, precision, features)
                               : task_brief(problem, evaluator->machine(), evaluator->threads(), precision, features, request.dsl));
  context.pool = &pool;
  context.ledger = &ledger;
  context.individuals = &outcome.attempts;
  context.progress = progress;
  context.seed = request.seed;
  ModelAuthor author(std::move(context));

  Proposal next;
  next.origin = "model";
  next.author = request.model->name();
  next.task = "translate";
  next.strategies = request.strategies;
  if (request.source) {
    Individual given;
    given.proposal.origin = "given";
    given.kernel.dsl = request.dsl;
    given.kernel.source = *request.source;
    given.kernel.author = "user";
    KW_CHECK(judge_attempt(*evaluator, problem, given, outcome.repeat));
    outcome.attempts.push_back(std::move(given));
    if (outcome.attempts.front().passed()) {
      outcome.passed = 0;
      outcome.ending = "it passes as it is";
      return outcome;
    }
    next.task = "repair";
    next.parents = {0};
  }
  while (!stop) {
    std::vector<Written> written = author.write({next});
    outcome.attempts.push_back(attempt_of(std::move(written.front()), static_cast<std::int64_t>(outcome.attempts.size())));
    Individual& attempt = outcome.attempts.back();
    if (!attempt.kernel.source.empty()) KW_CHECK(judge_attempt(*evaluator, problem, attempt, outcome.repeat));
    if (attempt.passed()) {
      outcome.passed = attempt.index;
      outcome.ending = "it passes";
      break;
    }
    const Conduct conduct = attempt.proposal.task == "drop" ? Conduct{Decision::drop, attempt.diagnosis, -1}
                                                            : decide_by_rules(lineage_of(outcome.attempts, 0));
    if (conduct.decision != Decision::drop &&
        static_cast<int>(outcome.attempts.size()) >= request.attempts + (request.source ? 1 : 0)) {
      outcome.ending =
          request.attempts == 1 ? "one attempt was allowed" : fmt::format("{} attempts were allowed", request.attempts);
      break;
    }
    if (conduct.decision == Decision::drop) {
      outcome.ending = conduct.why;
      break;
    }
    next.task = conduct.decision == Decision::undecided ? "decide" : name_of(conduct.decision);
    next.parents = {conduct.decision == Decision::regenerate ? attempt.index : conduct.from};
  }
  if (outcome.ending.empty()) outcome.ending = "it was interrupted";
  if (outcome.passed < 0 && author.broken()) {
    const bool written = std::any_of(outcome.attempts.begin(), outcome.attempts.end(), [](const Individual& each) {
      return !each.proposal.author.empty() && !each.kernel.source.empty();
    });
    if (!written) return *author.broken();  // nothing is lost: say what has to be mended
    outcome.ending = author.broken()->message;
  }
  outcome.exchanges = author.take_exchanges();
  return outcome;
}

}  // namespace kw
