#include "search/migrate.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "agent/migrator.h"
#include "base/shell.h"
#include "profile/loops.h"
#include "record/dsl_place.h"
#include "search/coder.h"
#include "search/counterparts.h"
#include "search/kernel_outputs.h"
#include "search/machine_code.h"
#include "search/one_kernel.h"
#include "search/task_brief.h"
#include "search/trials.h"
#include "strategy/alignment.h"
#include "strategy/code_lines.h"

namespace kw {
namespace {

using MigrationProgress = std::function<void(const std::string&)>;

Result<std::unique_ptr<Coder>> coder_for(const Dsl& dsl, const ProblemDescription& problem, const Evaluator& evaluator) {
  if (!dsl.on_gpu()) return cpu_playbook_coder(std::string(dsl.name), problem, evaluator.machine(), evaluator.threads());
  KW_TRY(const vgpu::GpuSheet sheet, evaluator.gpu_sheet());
  return gpu_playbook_coder(problem, sheet, evaluator.options().precision, std::string(dsl.name));
}

// What a coder could do for this problem; everything of the target where there is none.
std::vector<std::string> considered_for(const Dsl& dsl, const Result<std::unique_ptr<Coder>>& coder, const StrategyPool& pool) {
  const auto all = pool.ids(target_of(dsl.name));
  return coder ? usable_by(**coder, pool, all) : all;
}

Result<CodeView> view_of(const Candidate& candidate) {
  CodeView view;
  view.source = candidate.source().text;
  view.target = target_of(candidate.dsl().name);
  const CompiledKernel& kernel = *candidate.kernel();
  if (kernel.gpu) {
    KW_TRY(const std::string ptx, read_file(kernel.gpu->ptx));
    view.ptx_lines = ptx_code_lines(ptx);
    return view;
  }
  KW_TRY(const Disassembly disassembly, disassembly_of(kernel));
  const CodeText code = code_text(disassembly);
  view.assembly_lines = code.assembly_lines;
  view.hot_loop_lines = code.hot_loop_lines;
  view.isa = code.isa;
  view.has_assembly = true;
  return view;
}

// By the evidence in its text and its machine code; of two that exclude each other the one that promises more.
std::vector<AlignedStrategy> strategies_in(const CodeView& view, const StrategyPool& pool,
                                           const std::vector<std::string>& considered) {
  std::vector<AlignedStrategy> found = align(pool, view, considered, {});
  std::erase_if(found, [](const AlignedStrategy& each) { return each.presence != Presence::present; });
  std::stable_sort(found.begin(), found.end(), [&](const AlignedStrategy& a, const AlignedStrategy& b) {
    return pool.find(a.id)->predicts > pool.find(b.id)->predicts;
  });
  std::vector<AlignedStrategy> kept;
  for (const auto& each : found)
    if (std::none_of(kept.begin(), kept.end(), [&](const AlignedStrategy& other) { return pool.conflict(each.id, other.id); }))
      kept.push_back(each);
  return kept;
}

// With everything that it makes no sense without.
void want(const std::string& id, const StrategyPool& pool, std::set<std::string>& wanted) {
  if (!wanted.insert(id).second) return;
  for (const auto& needed : pool.find(id)->needs) want(needed, pool, wanted);
}

// Fusion leaves nothing in a text that could be found again, and no kernel is worth carrying over in pieces: the target is always
// asked for it, as far as it needs nothing else that the source does not do.
void want_fusion(const Dsl& to, const StrategyPool& pool, std::set<std::string>& wanted) {
  for (const auto& id : pool.ids(target_of(to.name))) {
    const Strategy* strategy = pool.find(id);
    if (strategy->lever != "fuse" || !strategy->evidence.empty()) continue;
    if (std::all_of(strategy->needs.begin(), strategy->needs.end(), [&](const auto& needed) { return wanted.contains(needed); }))
      wanted.insert(id);
  }
}

class Migrator {
 public:
  Migrator(const MigrationRequest& request, Evaluator& evaluator, const MigrationProgress& progress, const std::atomic<bool>& stop)
      : request_(request), evaluator_(evaluator), progress_(progress), stop_(stop) {}

  Result<Migration> run(Candidate& source, const Dsl& to) {
    KW_TRY(const ProblemSource problem, evaluator_.problem(request_.problem_file));
    KW_TRY(const StrategyPool pool, StrategyPool::load_own());
    KW_TRY(const Counterparts counterparts, Counterparts::load(pool));
    Migration made;
    made.problem = problem.description;
    made.from = source.dsl().name;
    made.to = to.name;
    progress_("verifying the source kernel");
    KW_TRY(const Evaluated judged, evaluator_.verify(problem, source, command_for(request_.kernel_file, source.dsl())));
    made.source_verdict = judged.evaluation.verdict;
    if (made.source_verdict.verdict != Verdict::passed)
      return bad_input(fmt::format("{} does not pass on {}: {}", request_.kernel_file, problem.description.name,
                                   made.source_verdict.diagnosis.summary),
                       "mend it first: " + made.source_verdict.repeat);
    KW_TRY(const CompileOutcome compiled, source.compile(problem.description, evaluator_.compile_options()));
    if (!compiled.kernel) return internal_error("a kernel that has passed does not compile: " + compiled.diagnosis.summary);
    progress_("reading what the source kernel does");
    KW_TRY(const CodeView view, view_of(source));
    const auto source_coder = coder_for(source.dsl(), problem.description, evaluator_);
    const auto found = strategies_in(view, pool, considered_for(source.dsl(), source_coder, pool));

    std::set<std::string> wanted;
    for (const auto& each : found)
      for (const auto& other : counterparts.of(*pool.find(each.id), target_of(to.name))) want(other, pool, wanted);
    want_fusion(to, pool, wanted);
    KW_CHECK(write(made, problem, pool, source, to, {wanted.begin(), wanted.end()}));
    take_down(made, found, pool, counterparts, to);
    if (!made.kernel.source.empty()) KW_CHECK(judge(made, problem, source, to));
    if (!made.kernel.source.empty() && !made.passed()) {  // what passed there before is not written over
      made.file = fs::path(made.file).replace_extension(".failed" + std::string(to.extension)).string();
      made.verdict.repeat = repeated_as(made.verdict.repeat, command_for(made.file, to));
    }
    return made;
  }

 private:
  [[nodiscard]] std::string file_for(const ProblemDescription& problem, const Dsl& to) const {
    return request_.out.empty() ? fmt::format("{}-{}{}", problem.name, to.name, to.extension) : request_.out;
  }

  // That judges a kernel as it is judged here, but for the seed.
  [[nodiscard]] std::string command_for(const std::string& kernel_file, const Dsl& dsl) const {
    const EvaluatorOptions& options = request_.evaluator;
    std::string text =
        fmt::format("kernelwright verify {} {} --dsl {}", shell_word(request_.problem_file), shell_word(kernel_file), dsl.name);
    if (dsl.on_gpu() && !options.gpu.empty()) text += " --machine " + shell_word(options.gpu);
    if (options.precision != "float32") text += " --precision " + options.precision;
    if (options.threads > 0) text += fmt::format(" --threads {}", options.threads);
    if (options.unsafe_no_sandbox) text += " --unsafe-no-sandbox";
    return text;
  }

  // By the playbook where it knows the problem, by a model otherwise.
  Status write(Migration& made, const ProblemSource& problem, const StrategyPool& pool, const Candidate& source, const Dsl& to,
               const std::vector<std::string>& wanted) {
    const auto coder = coder_for(to, problem.description, evaluator_);
    if (coder) {
      progress_(fmt::format("writing it in {}", to.name));
      std::vector<std::string> asked;
      for (const auto& id : usable_by(**coder, pool, wanted))
        if (std::none_of(asked.begin(), asked.end(), [&](const std::string& other) { return pool.conflict(id, other); }))
          asked.push_back(id);
      KW_TRY(made.kernel, (*coder)->write(asked));
      return {};
    }
    if (request_.model == nullptr) {
      Error error = coder.error();
      error.hint = "the playbook does not know this problem in the target: name a model with --model";
      return error;
    }
    return write_by_model(made, problem, pool, source, to, wanted);
  }

  Status write_by_model(Migration& made, const ProblemSource& problem, const StrategyPool& pool, const Candidate& source,
                        const Dsl& to, const std::vector<std::string>& wanted) {
    KW_TRY(const fs::path root, install_root());
    KW_TRY(const Library library, Library::load(root, std::string(to.name)));
    KW_TRY(const vgpu::GpuSheet sheet, evaluator_.gpu_sheet());
    const std::string& precision = evaluator_.options().precision;
    KW_TRY(const TaskBrief brief, to.on_gpu() ? gpu_task_brief(problem, sheet, std::string(to.name), precision, Features{})
                                              : task_brief(problem, evaluator_.machine(), evaluator_.threads(), precision,
                                                           Features{}, std::string(to.name)));
    MigrationTask task;
    task.source = source.source().text;
    task.from = source.dsl().name;
    for (const auto& id : wanted)
      if (const Strategy* strategy = pool.find(id)) task.strategies.push_back(*strategy);
    Desk desk(*request_.model, library);
    progress_(fmt::format("{} writes it in {}", request_.model->name(), to.name));
    const WrittenKernel written = migrate_kernel(desk, brief, task);
    if (desk.broken()) return *desk.broken();
    if (written.fault) return bad_input("the model's answer is no kernel: " + written.fault->detail, "try again, or another model");
    made.kernel = written.kernel;
    KW_TRY(Candidate first, Trials::candidate_of(made.kernel, {}));
    KW_TRY(const Evaluated judged, evaluator_.verify(problem, first, command_for(file_for(problem.description, to), to)));
    if (judged.evaluation.verdict.verdict == Verdict::passed) return {};
    OneKernelRequest repair;
    repair.problem_file = request_.problem_file;
    repair.source = made.kernel.source;
    repair.dsl = to.name;
    repair.attempts = request_.attempts;
    repair.seed = request_.seed;
    repair.evaluator = request_.evaluator;
    repair.model = request_.model;
    KW_TRY(const OneKernelOutcome outcome, one_kernel(repair, progress_, stop_));
    if (outcome.passed >= 0) made.kernel = outcome.attempts[static_cast<std::size_t>(outcome.passed)].kernel;
    return {};
  }

  static void take_down(Migration& made, const std::vector<AlignedStrategy>& found, const StrategyPool& pool,
                        const Counterparts& counterparts, const Dsl& to) {
    const auto& claims = made.kernel.claims;
    for (const auto& each : found) {
      CarriedStrategy carried{each.id, {}, each.evidence};
      const auto others = counterparts.of(*pool.find(each.id), target_of(to.name));
      for (const auto& other : others)
        if (std::find(claims.begin(), claims.end(), other) != claims.end()) carried.targets.push_back(other);
      if (carried.targets.empty()) {
        carried.why = others.empty()
                          ? counterparts.why_none(each.id)
                          : fmt::format("the {} kernel for this problem has no place for {}", to.name, fmt::join(others, ", "));
        if (carried.why.empty()) carried.why = fmt::format("it has no counterpart on a {}", to.on_gpu() ? "GPU" : "CPU");
      }
      made.strategies.push_back(std::move(carried));
    }
  }

  // Against the problem, and against what the source computes for the same inputs.
  Status judge(Migration& made, const ProblemSource& problem, const Candidate& source, const Dsl& to) {
    progress_("verifying the new kernel");
    KW_TRY(Candidate target, Trials::candidate_of(made.kernel, {}));
    made.file = file_for(problem.description, to);
    KW_TRY(Evaluated judged, evaluator_.verify(problem, target, command_for(made.file, to)));
    made.verdict = std::move(judged.evaluation.verdict);
    if (made.verdict.verdict != Verdict::passed) return {};
    KW_TRY(const CompileOutcome compiled, target.compile(problem.description, evaluator_.compile_options()));
    if (!compiled.kernel) return internal_error("a kernel that has passed does not compile: " + compiled.diagnosis.summary);
    progress_("comparing the two kernels' outputs");
    const TensorStore store(problem, evaluator_.options().precision);
    const std::uint64_t draw = store.pick_draw(false);
    Agreement& agreement = made.agreement;
    agreement.bitwise = agreement.within_tolerance = agreement.compared = true;
    for (const std::size_t kind : {std::size_t{0}, std::size_t{3}}) {
      KW_TRY(const TensorSet set, store.get(draw, verification_kinds()[kind], evaluator_.oracle()));
      KW_TRY(const auto first, outputs_of(source, problem.description, set, evaluator_));
      KW_TRY(const auto second, outputs_of(target, problem.description, set, evaluator_));
      if (!first.ok() || !second.ok()) {
        agreement = {};
        agreement.why_not = (first.ok() ? second : first).failure.diagnosis.summary;
        return {};
      }
      KW_TRY(const OutputDistance distance,
             distance_between(*first.value, *second.value, problem.description, set, evaluator_.options().precision));
      agreement.bitwise &= distance.bitwise;
      agreement.within_tolerance &= distance.within_tolerance;
      agreement.largest_difference = std::max(agreement.largest_difference, distance.largest_difference);
      agreement.largest_value = std::max(agreement.largest_value, distance.largest_value);
      ++agreement.sets;
    }
    return {};
  }

  const MigrationRequest& request_;
  Evaluator& evaluator_;
  const MigrationProgress& progress_;
  const std::atomic<bool>& stop_;
};

}  // namespace

Result<Migration> migrate(const MigrationRequest& request, const MigrationProgress& progress, const std::atomic<bool>& stop) {
  KW_TRY(const Dsl* to, dsl_named(request.to));
  KW_TRY(Candidate source, Candidate::read(request.kernel_file, {}, request.from));
  for (const Dsl* dsl : {&source.dsl(), to})
    if (dsl->name == "kernelbench")
      return bad_input("kernelbench is a form around kernels and no language of its own",
                       "export a kernel with 'kernelwright export RUN --as kernelbench', or judge one with 'kernelwright verify'");
  if (source.dsl().name == to->name)
    return bad_input(fmt::format("{} is {} already", request.kernel_file, to->name), "name another DSL with --to");
  EvaluatorOptions options = request.evaluator;
  options.progress = [&](std::string_view text) { progress(std::string(text)); };
  KW_TRY(const auto evaluator, Evaluator::open(std::move(options)));
  KW_CHECK(evaluator->warm_up());
  return Migrator(request, *evaluator, progress, stop).run(source, *to);
}

void to_json(Json& json, const Migration& migration) {
  Json strategies = Json::array();
  for (const auto& each : migration.strategies)
    strategies.push_back({{"source", each.source}, {"targets", each.targets}, {"why", each.why}});
  const Agreement& agreement = migration.agreement;
  json = {{"problem", migration.problem.name},
          {"from", migration.from},
          {"to", migration.to},
          {"passed", migration.passed()},
          {"author", migration.kernel.author},
          {"verdict", migration.verdict},
          {"strategies", strategies},
          {"claims", migration.kernel.claims},
          {"agreement",
           {{"compared", agreement.compared},
            {"why_not", agreement.why_not},
            {"bitwise", agreement.bitwise},
            {"within_tolerance", agreement.within_tolerance},
            {"largest_difference", agreement.largest_difference},
            {"largest_value", agreement.largest_value},
            {"sets", agreement.sets}}}};
}

}  // namespace kw
