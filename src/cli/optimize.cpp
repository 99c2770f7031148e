#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "agent/usage.h"
#include "base/duration.h"
#include "cli/commands.h"
#include "cli/interruption.h"
#include "cli/live_view.h"
#include "cli/model_choice.h"
#include "dsl/dsl.h"
#include "machine/machine_cache.h"
#include "record/standing.h"
#include "report/run_text.h"
#include "search/final_source.h"
#include "search/run.h"
#include "strategy/ledger.h"

namespace kw {
namespace {

constexpr double kUsualSeconds = 180;

Result<RunRequest> request_of(const OptimizeOptions& options) {
  if (options.problem.empty() && options.resume.empty())
    return bad_input("optimize needs a problem, or a run to resume",
                     "kernelwright optimize PROBLEM, or kernelwright optimize --resume RUN");
  RunRequest request;
  request.options.dsl = options.dsl;
  request.options.machine = options.machine;
  if (!request.options.is_on_gpu() && !options.machine.empty())
    return bad_input(
        fmt::format("--machine {} goes with kernels for a GPU", options.machine),
        "choose a DSL for it, such as --dsl cuda-c; or leave --machine out: kernels in C++ and OpenCL are for this machine");
  if (options.dsl == "opencl") {
    KW_TRY(const Dsl* dsl, dsl_named(options.dsl));
    KW_TRY(const std::string version, dsl->compiler_version());  // a missing device is told at once
  }
  if (request.options.is_on_gpu()) {
    KW_TRY(const Dsl* dsl, dsl_named(options.dsl));
    KW_TRY(const GpuPlace place, gpu_place(options.machine, options.dsl));  // an unknown GPU or a missing compiler is told at once
    KW_TRY(const std::string version, dsl->compiler_version());
    request.evaluator.go_to(place);
  }
  if (options.require_win && request.options.is_on_gpu() && !request.evaluator.device)
    return bad_input(fmt::format("--require-win asks for a timing, and kernels in {} are only estimated here", options.dsl),
                     "leave it out, or search where that GPU is");
  request.problem_file = options.problem;
  request.resume = options.resume;
  request.options.search = options.search;
  request.options.seed = options.seed;
  request.options.islands = options.islands;
  request.options.evaluations = options.evaluations;
  request.options.precision = options.precision;
  request.options.threads = options.threads;
  request.options.base_url = options.model.base_url;
  if (!options.time.empty()) {
    KW_TRY(request.options.seconds, seconds_from_text(options.time));
  } else if (options.evaluations == 0) {
    request.options.seconds = kUsualSeconds;
  }
  request.more_time = !options.time.empty() || options.evaluations > 0;
  request.evaluator.precision = options.precision;
  request.evaluator.threads = options.threads;
  const auto& baselines = options.baselines;
  request.evaluator.compile = std::find(baselines.begin(), baselines.end(), "compile") != baselines.end();
  request.evaluator.unsafe_no_sandbox = options.unsafe_no_sandbox;
  return request;
}

Json json_of(const RunOutcome& outcome, const std::string& file) {
  Json individuals = Json::array();
  for (const Individual& individual : outcome.individuals) {
    Json json = individual;
    json.erase("kernel");
    individuals.push_back(std::move(json));
  }
  const auto& clock = outcome.clock;
  Json json = {{"run", outcome.run},
               {"kernel_file", file},
               {"against_pytorch", standing_json(outcome.run.confirmed)},
               {"winner", outcome.winner ? Json(*outcome.winner) : Json()},
               {"individuals", std::move(individuals)},
               {"notes", outcome.notes},
               {"seconds",
                {{"writing", clock.writing},
                 {"compiling", clock.compiling},
                 {"reading", clock.reading},
                 {"verifying", clock.verifying},
                 {"timing", clock.timing},
                 {"archiving", clock.archiving}}}};
  if (!outcome.run.options.model.empty())
    json["model"] = json_of(model_use(outcome.run.options.model, outcome.exchanges, outcome.individuals));
  return json;
}

// Where the time went, the longest first.
std::string stages_text(const TrialClock& clock, double all) {
  std::vector<std::pair<double, std::string_view>> stages{{clock.writing, "writing"}, {clock.compiling, "compiling"},
                                                          {clock.reading, "reading"}, {clock.verifying, "verifying"},
                                                          {clock.timing, "timing"},   {clock.archiving, "archiving"}};
  double rest = all;
  for (const auto& stage : stages) rest -= stage.first;
  stages.emplace_back(std::max(rest, 0.0), "setting up and confirming");
  std::sort(stages.rbegin(), stages.rend());
  std::vector<std::string> words;
  for (const auto& [seconds, stage] : stages)
    if (seconds >= 0.05) words.push_back(fmt::format("{} {:.1f} s", stage, seconds));
  return words.empty() ? "" : fmt::format("  {:<10}{}\n", "time", fmt::join(words, ", "));
}

// A run that is resumed works with the model that it began with.
Result<ModelChoice> choice_of(const OptimizeOptions& options) {
  ModelChoice choice = options.model;
  if (options.resume.empty() && !choice.given() && !(choice.base_url + choice.protocol + choice.record).empty())
    return bad_input("--base-url, --protocol and --record say nothing without a model", "add --model NAME");
  if (options.resume.empty() || choice.given()) return choice;
  KW_TRY(const Archive archive, Archive::open(Archive::default_path()));
  KW_TRY(const auto run, archive.runs().find(options.resume));
  if (!run) return choice;
  choice.model = run->options.model;
  if (choice.base_url.empty()) choice.base_url = run->options.base_url;
  return choice;
}

Result<int> show_prompts(const ShowOptions& options, const std::vector<Exchange>& exchanges, Output& output) {
  const bool is_number =
      !options.prompt.empty() && options.prompt.size() < 10 && options.prompt.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number && !options.prompt.empty() && options.prompt != "true")  // what CLI11 makes of an option without a value
    return bad_input(fmt::format("--prompts {} is no number of an exchange", options.prompt),
                     fmt::format("kernelwright show {} --prompts", options.run));
  if (!is_number) {
    Json list = Json::array();
    for (const Exchange& exchange : exchanges) {
      Json row = exchange;
      row.erase("messages");
      row.erase("answer");
      list.push_back(std::move(row));
    }
    output.result(exchange_list(exchanges), list);
    return kPassed;
  }
  const auto number = static_cast<std::size_t>(std::stoul(options.prompt));
  if (number >= exchanges.size())
    return bad_input(fmt::format("run {} has no exchange {}: there were {}", options.run, number, exchanges.size()),
                     fmt::format("kernelwright show {} --prompts", options.run));
  output.result(exchange_text(exchanges[number], number), exchanges[number]);
  return kPassed;
}

}  // namespace

Result<int> run_optimize(const OptimizeOptions& options, Output& output) {
  KW_TRY(RunRequest request, request_of(options));
  KW_CHECK(check_out(options.out));
  KW_TRY(const ModelChoice choice, choice_of(options));
  RunOutcome outcome;
  {
    const Interruption interruption;
    std::unique_ptr<Model> model;
    if (choice.given()) {
      KW_TRY(model, opened_model(choice, output, interruption.wanted()));
    }
    request.model = model.get();
    LiveView view(output);
    KW_TRY(outcome, run_search(
                        request, [&](const RunProgress& progress) { view.show(progress); }, interruption.wanted()));
  }
  std::string file;
  if (outcome.run.winner >= 0) {
    const Individual& winner = outcome.individuals[static_cast<std::size_t>(outcome.run.winner)];
    file = options.out.empty()
               ? fmt::format("{}-run{}{}", outcome.run.problem_name, outcome.run.id, kernel_extension(outcome.run.options.dsl))
               : options.out;
    KW_TRY(const Machine machine, this_machine({}));
    KW_CHECK(write_file_atomically(file, handed_over(outcome.run, winner, machine)));
  }
  std::string text = summary_text(outcome.run, outcome.individuals, output.paint());
  text += stages_text(outcome.clock, outcome.run.elapsed_seconds);
  text += text_of(model_use(outcome.run.options.model, outcome.exchanges, outcome.individuals));
  for (const std::string& note : outcome.notes) text += fmt::format("  {:<10}{}\n", "note", note);
  text += fmt::format("  {0:<10}kernelwright show {1} (where it came from), kernelwright report {1} (as a page)\n", "more",
                      outcome.run.id);
  if (!file.empty()) text += fmt::format("  {:<10}{}\n", "file", file);
  output.result(text, json_of(outcome, file));
  if (options.require_win && standing_of(outcome.run.confirmed) != Standing::faster) return kNotPassed;
  return outcome.run.winner >= 0 ? kPassed : kNotPassed;
}

Result<int> run_runs(const RunsOptions& options, Output& output) {
  KW_TRY(const Archive archive, Archive::open(Archive::default_path()));
  KW_TRY(const auto summaries, archive.runs().list(options.limit, options.parts ? SubProblems::with : SubProblems::without));
  Json json = Json::array();
  std::vector<RunListing> rows;
  for (const RunSummary& summary : summaries) {
    rows.push_back({summary.run, static_cast<int>(summary.individuals), static_cast<int>(summary.passed)});
    Json row = summary.run;
    row["individuals"] = summary.individuals;
    row["passed"] = summary.passed;
    const std::optional<double> speedup = confirmed_speedup(summary.run);
    row["confirmed_speedup"] = speedup ? Json(*speedup) : Json();
    row["standing"] = name_of(standing_of(summary.run.confirmed));
    json.push_back(std::move(row));
  }
  output.result(runs_text(rows, output.paint()), json);
  return kPassed;
}

Result<int> run_show(const ShowOptions& options, Output& output) {
  KW_TRY(const Archive archive, Archive::open(Archive::default_path()));
  KW_TRY(const auto run, archive.runs().find(options.run));
  if (!run) return bad_input(fmt::format("there is no run {}", options.run), "kernelwright runs lists them");
  KW_TRY(const auto individuals, archive.runs().individuals(run->id));
  if (options.kernel) {
    if (*options.kernel >= static_cast<std::int64_t>(individuals.size()))
      return bad_input(fmt::format("run {} has no kernel {}: it tried {}", run->id, *options.kernel, individuals.size()),
                       fmt::format("kernelwright show {}", run->id));
    const Individual& individual = individuals[static_cast<std::size_t>(*options.kernel)];
    output.result(with_knobs(individual.kernel.source, individual.proposal.knobs), individual);
    return kPassed;
  }
  KW_TRY(const auto exchanges, archive.runs().exchanges(run->id));
  if (options.prompts) return show_prompts(options, exchanges, output);
  const ModelUse use = model_use(run->options.model, exchanges, individuals);
  Json json{{"run", *run}, {"against_pytorch", standing_json(run->confirmed)}, {"individuals", individuals}};
  if (!run->options.model.empty()) json["model"] = json_of(use);
  output.result(run_text(*run, individuals, output.paint()) + text_of(use), json);
  return kPassed;
}

Result<int> run_ledger(const LedgerOptions& options, Output& output) {
  KW_TRY(const Archive archive, Archive::open(Archive::default_path()));
  KW_TRY(const auto entries, archive.runs().ledger());
  // What a run without its GPU found is an estimate, and so is a mean over such runs and others.
  std::map<std::string, bool> is_estimated;
  std::set<std::tuple<std::string, std::string, std::string>> estimates;
  for (const LedgerEntry& entry : entries.items) {
    const auto [known, is_new] = is_estimated.emplace(entry.run, false);
    if (is_new) {
      KW_TRY(const auto run, archive.runs().find(entry.run));
      known->second = run && run->options.is_estimated();
    }
    if (known->second) estimates.emplace(entry.strategy, entry.zone, entry.workload_class);
  }
  std::vector<LedgerLine> rows;
  Json json = Json::array();
  for (const LedgerRow& row : Ledger(entries.items).rows()) {
    if (!options.zone.empty() && row.zone != options.zone) continue;
    if (!options.workload_class.empty() && row.workload_class != options.workload_class) continue;
    const bool estimated = estimates.contains({row.strategy, row.zone, row.workload_class});
    rows.push_back({row.strategy, row.zone, row.workload_class, row.predicted, row.measured, row.low, row.high,
                    static_cast<int>(row.n), static_cast<int>(row.failures), estimated});
    json.push_back({{"strategy", row.strategy},
                    {"zone", row.zone},
                    {"class", row.workload_class},
                    {"predicted", row.predicted},
                    {"measured", row.measured},
                    {"low", row.low},
                    {"high", row.high},
                    {"n", row.n},
                    {"estimated", estimated},
                    {"failures", row.failures}});
  }
  output.result(ledger_text(rows, output.paint()), json);
  return kPassed;
}

}  // namespace kw
