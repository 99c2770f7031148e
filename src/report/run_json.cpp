#include "report/run_json.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/shell.h"
#include "base/version.h"
#include "machine/roofline.h"
#include "record/standing.h"

namespace kw {
namespace {

Json outline(const Individual& individual) {
  Json json = individual;
  json["author"] = individual.kernel.author;
  json.erase("kernel");
  json.erase("assembly_hash");
  json.erase("invented");
  Json defaults = Json::object();
  for (const Knob& knob : individual.kernel.knobs) defaults[knob.name] = std::to_string(knob.standard);
  json["knob_defaults"] = std::move(defaults);
  return json;
}

Json problem_json(const ProblemDescription& problem) {
  Json json = problem;
  json.erase("graph");
  json.erase("file");
  return json;
}

// Peaks and bandwidths that bound this run, with its number of threads.
Json ceilings_json(const Machine& machine, const Workload& workload, int threads) {
  Json compute = Json::array();
  const double best = compute_ceiling(machine, threads);
  for (const FmaPeak& peak : machine.peaks)
    if (peak.threads == threads && peak.gflops > 0 && peak.gflops < 0.95 * best)
      compute.push_back({{"name", peak.isa}, {"gflops", peak.gflops}});
  if (best > 0) compute.push_back({{"name", machine.widest_isa}, {"gflops", best}});

  double largest = 0;
  for (const BandwidthPoint& point : machine.bandwidth) largest = std::max(largest, point.working_set_bytes);
  Json bandwidth = Json::array();
  double below = 0;
  const auto add = [&](const char* name, double bytes) {
    const double rate = bytes > 0 ? bandwidth_ceiling(machine, bytes, threads) : 0;
    if (rate <= 1.15 * below) return;  // the same level under another name
    bandwidth.push_back({{"name", name}, {"gbytes", rate}});
    below = rate;
  };
  add("memory", largest);
  add("L3", machine.l3_bytes / 2);
  add("L2", machine.l2_bytes * threads / 2);
  add("L1", machine.l1d_bytes * threads / 2);

  const Roofline roofline = roofline_of(machine, workload, threads);
  return {{"threads", threads},
          {"zone", name_of(roofline.zone)},
          {"intensity", roofline.intensity},
          {"ridge", roofline.ridge},
          {"floor_seconds", roofline.floor_seconds},
          {"memory_seconds", roofline.memory_seconds},
          {"compute_seconds", roofline.compute_seconds},
          {"bound_gbytes", bandwidth_ceiling(machine, workload.bytes, threads)},
          {"bound_gflops", best},
          {"compute", std::move(compute)},
          {"bandwidth", std::move(bandwidth)}};
}

// The same of a GPU that is not here, as its data sheet has them.
Json gpu_ceilings_json(const GpuCeilings& ceilings, const RunRecord& run, const ProblemDescription& problem) {
  Json compute_roofs = Json::array(), bandwidth = Json::array();
  compute_roofs.push_back({{"name", ceilings.peak_name}, {"gflops", ceilings.peak_gflops}});
  bandwidth.push_back({{"name", "memory"}, {"gbytes", ceilings.memory_gbytes_per_second}});
  if (ceilings.l2_gbytes_per_second > 0) bandwidth.push_back({{"name", "L2"}, {"gbytes", ceilings.l2_gbytes_per_second}});
  const double compute = problem.flops.value_or(0) / (ceilings.peak_gflops * 1e9);
  const double memory = problem.bytes / (ceilings.memory_gbytes_per_second * 1e9);
  return {{"zone", run.zone},
          {"intensity", problem.bytes > 0 ? problem.flops.value_or(0) / problem.bytes : 0},
          {"ridge", ceilings.peak_gflops / ceilings.memory_gbytes_per_second},
          {"floor_seconds", std::max(compute, memory)},
          {"memory_seconds", memory},
          {"compute_seconds", compute},
          {"bound_gbytes", ceilings.memory_gbytes_per_second},
          {"bound_gflops", ceilings.peak_gflops},
          {"compute", std::move(compute_roofs)},
          {"bandwidth", std::move(bandwidth)}};
}

Json machine_json(const Machine& machine) {
  Json json = machine;
  for (const char* key : {"peaks", "bandwidth", "isas"}) json.erase(key);
  return json;
}

Json evaluation_json(const Evaluation& evaluation) {
  const VerdictRecord& verdict = evaluation.verdict;
  const auto passed = std::count_if(verdict.checks.begin(), verdict.checks.end(), [](const CheckResult& c) { return c.passed; });
  // The output that came nearest to its tolerance stands for all.
  const OutputError* worst = nullptr;
  std::string inputs;
  for (const CheckResult& check : verdict.checks)
    for (const OutputError& output : check.outputs)
      if (!worst || output.worst_of_tolerance > worst->worst_of_tolerance) {
        worst = &output;
        inputs = check.distribution;
      }
  return {{"id", evaluation.id},
          {"verdict", name_of(verdict.verdict)},
          {"checks", verdict.checks.size()},
          {"checks_passed", passed},
          {"worst", worst ? Json(*worst) : Json()},
          {"worst_inputs", inputs},
          {"compiler", evaluation.key.compiler},
          {"flags", evaluation.key.flags},
          {"torch", evaluation.key.torch_version},
          {"evaluator", evaluation.key.evaluator_version},
          {"sandbox", verdict.sandbox},
          {"notes", verdict.notes},
          {"created_at", evaluation.created_at}};
}

Json exchange_outline(const Exchange& exchange) {
  Json json = exchange;
  json["id"] = exchange.id;
  json.erase("messages");
  json.erase("answer");
  return json;
}

std::string search_command(const RunRecord& run) {
  const RunOptions& options = run.options;
  std::string command = fmt::format("kernelwright optimize {} --search {} --seed {}", shell_word(shown_path(run.problem_file)),
                                    options.search, options.seed);
  if (options.seconds > 0) command += fmt::format(" --time {:.0f}s", std::ceil(options.seconds));
  if (options.evaluations > 0) command += fmt::format(" --evaluations {}", options.evaluations);
  if (options.islands > 1) command += fmt::format(" --islands {}", options.islands);
  if (options.threads > 0) command += fmt::format(" --threads {}", options.threads);
  if (options.precision != "float32") command += fmt::format(" --precision {}", options.precision);
  if (options.dsl != "cpp") command += " --dsl " + options.dsl;
  if (!options.machine.empty()) command += " --machine " + shell_word(options.machine);
  if (!options.model.empty()) command += fmt::format(" --model {}", shell_word(options.model));
  if (!options.base_url.empty()) command += fmt::format(" --base-url {}", shell_word(options.base_url));
  return command;
}

Json commands_json(const RunRecord& run) {
  Json commands{{"search", search_command(run)}};
  if (run.winner >= 0) {
    const std::string file = fmt::format("kernel{}", kernel_extension(run.options.dsl));
    std::string measure = fmt::format("kernelwright measure {} {}", shell_word(shown_path(run.problem_file)), file);
    if (run.options.dsl != "cpp") measure += " --dsl " + run.options.dsl;
    if (!run.options.machine.empty()) measure += " --machine " + shell_word(run.options.machine);
    if (run.options.precision != "float32") measure += fmt::format(" --precision {}", run.options.precision);
    if (run.options.threads > 0) measure += fmt::format(" --threads {}", run.options.threads);
    commands["kernel"] = fmt::format("kernelwright show {} --kernel {} > {}", run.id, run.winner, file);
    commands["measure"] = std::move(measure);
  }
  return commands;
}

}  // namespace

std::string shown_path(const std::string& file) {
  const auto root = install_root();
  if (!root) return file;
  const fs::path near = fs::path(file).lexically_relative(*root);
  return near.empty() || near.native().starts_with("..") ? file : near.string();
}

Json page_json(const RunView& view) {
  Json run = view.run;
  run["under_way"] = view.under_way;
  run["estimated"] = view.run.options.is_estimated();
  run["standing"] = standing_json(view.run.confirmed);
  run["problem_file"] = shown_path(view.run.problem_file);
  Json json{{"page", "run"}, {"run", std::move(run)}, {"commands", commands_json(view.run)}, {"version", kVersion}};
  Json individuals = Json::array();
  for (const Individual& individual : view.individuals) individuals.push_back(outline(individual));
  json["individuals"] = std::move(individuals);
  Json exchanges = Json::array();
  for (const Exchange& exchange : view.exchanges) exchanges.push_back(exchange_outline(exchange));
  json["exchanges"] = std::move(exchanges);
  json["ledger"] = view.ledger;
  Json strategies = Json::object();
  for (const auto& [id, strategy] : view.strategies)
    strategies[id] = {{"name", strategy.name}, {"lever", strategy.lever}, {"predicts", strategy.predicts}, {"why", strategy.why}};
  json["strategies"] = std::move(strategies);
  json["evaluation"] = view.evaluation ? evaluation_json(*view.evaluation) : Json();
  json["problem"] = view.problem ? problem_json(*view.problem) : Json();
  json["machine"] = view.machine ? machine_json(*view.machine) : Json();
  if (view.problem && view.run.options.is_on_gpu()) {
    if (view.run.ceilings) json["roofline"] = gpu_ceilings_json(*view.run.ceilings, view.run, *view.problem);
  } else if (view.problem && view.machine) {
    const ProblemDescription& problem = *view.problem;
    const int threads = view.run.options.threads > 0 ? view.run.options.threads : view.machine->cores;
    json["roofline"] = ceilings_json(*view.machine, {problem.flops, problem.bytes, problem.essential_bytes}, threads);
  }
  return json;
}

Json texts_json(const RunView& view) {
  std::map<std::string, std::size_t> places;
  Json sources = Json::array(), source_of = Json::array();
  for (const Individual& individual : view.individuals) {
    const auto [place, is_new] = places.emplace(individual.kernel.source, sources.size());
    if (is_new) sources.push_back(individual.kernel.source);
    source_of.push_back(place->second);
  }
  Json exchanges = Json::object();
  for (const Exchange& exchange : view.exchanges)
    exchanges[std::to_string(exchange.id)] = {{"messages", exchange.messages}, {"answer", exchange.answer}};
  return {{"sources", std::move(sources)}, {"source_of", std::move(source_of)}, {"exchanges", std::move(exchanges)}};
}

Json listing_json(const RunSummary& summary, bool under_way) {
  const RunRecord& run = summary.run;
  const Comparison* eager = comparison_with(run.confirmed, "eager");
  const Comparison* compile = comparison_with(run.confirmed, "compile");
  const std::optional<double> speedup = confirmed_speedup(run);
  Json json{{"id", run.id},
            {"problem_name", run.problem_name},
            {"problem_file", shown_path(run.problem_file)},
            {"problem_hash", run.problem_hash},
            {"search", run.options.search},
            {"seed", run.options.seed},
            {"model", run.options.model},
            {"precision", run.options.precision},
            {"zone", run.zone},
            {"workload_class", run.workload_class},
            {"shape", run.shape},
            {"state", run.state},
            {"under_way", under_way},
            {"estimated", run.options.is_estimated()},
            {"ending", run.ending},
            {"elapsed_seconds", run.elapsed_seconds},
            {"individuals", summary.individuals},
            {"passed", summary.passed},
            {"created_at", run.created_at},
            {"updated_at", run.updated_at}};
  json["confirmed_speedup"] = speedup ? Json(*speedup) : Json();
  json["standing"] = name_of(standing_of(run.confirmed));
  if (run.options.dsl != "cpp") json["dsl"] = run.options.dsl;
  if (!run.options.part_of.empty()) json["part_of"] = run.options.part_of;
  if (eager) json["confirmed"] = {{"speedup", eager->speedup}, {"low", eager->interval.low}, {"high", eager->interval.high}};
  if (compile) json["compile"] = {{"speedup", compile->speedup}, {"low", compile->interval.low}, {"high", compile->interval.high}};
  if (run.confirmed) json["share_of_ceiling"] = run.confirmed->share_of_ceiling;
  return json;
}

}  // namespace kw
