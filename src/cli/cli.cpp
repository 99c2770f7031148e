#include "cli/cli.h"

#include <algorithm>
#include <csignal>
#include <exception>
#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/version.h"
#include "cli/commands.h"
#include "cli/help_format.h"
#include "cli/manual.h"
#include "cli/view_commands.h"
#include "search/coder.h"

namespace kw {
namespace {

void add_judge_options(CLI::App& command, JudgeOptions& options, bool& json) {
  command.add_option("problem", options.problem, "a Python file with Model, get_inputs() and get_init_inputs()")->required();
  command.add_option("kernel", options.kernel, "the kernel's source: a .cpp, .cu, .cl or .py file")->required();
  command
      .add_option("--dsl", options.dsl,
                  "what it is written in (default: by the file): cpp, cuda-c, cute, triton, tilelang, opencl, kernelbench")
      ->type_name("NAME");
  command
      .add_option(
          "--machine", options.machine,
          "for kernels in CUDA: the GPU, by data sheet: a100, h100, ..., or a .json file (default: this machine's own, which times "
          "them; else a virtual a100)")
      ->type_name("GPU");
  command.add_option("--knob", options.knobs, "define a knob, NAME=VALUE; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  command.add_option("--precision", options.precision, "the contract: float32 (default), tf32, bf16 or fp16")->type_name("NAME");
  command.add_option("--threads", options.threads, "how many threads (default: all cores)")->check(CLI::Range(1, 4096));
  command.add_option("--seed", options.seed, "the inputs of an earlier verdict")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{999'999'999}));
  command.add_option("--timeout", options.timeout, "seconds that one call may take")->check(CLI::Range(0.01, 86400.0));
  command
      .add_option("--compile-timeout", options.compile_timeout,
                  "seconds of processor time that the compiler may take (default 120)")
      ->check(CLI::Range(0.1, 86400.0));
  command.add_flag("--allow-torch", options.allow_torch,
                   "of a file with ModelNew: PyTorch's own operators may do work, and are reported");
  command.add_flag("--again", options.again, "evaluate even if the archive has the answer");
  command.add_flag("--fresh", options.fresh, "draw new inputs instead of cached ones");
  command.add_flag("--unsafe-no-sandbox", options.unsafe_no_sandbox,
                   "run without a sandbox where none can be had; the result says so");
  command.add_flag("--json", json, "print one JSON object");
}

void add_model_options(CLI::App& command, ModelChoice& choice, bool required) {
  command
      .add_option("--model", choice.model, "a model that writes kernels: 'local', or a provider's name for it; see docs/agents.md")
      ->type_name("NAME")
      ->required(required);
  command.add_option("--base-url", choice.base_url, "where the model is served, if not at its provider's own address")
      ->type_name("URL");
  command.add_option("--protocol", choice.protocol, "openai or anthropic (default: by the model's name)")
      ->check(CLI::IsMember({"openai", "anthropic"}));
  command.add_option("--max-usd", choice.max_usd, "stop asking the model before this is spent")->check(CLI::Range(0.0, 1e6));
  command.add_option("--max-tokens", choice.max_tokens, "stop asking the model before this many tokens, in and out")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000'000}));
  command.add_option("--record", choice.record, "append every exchange to this file, as JSON lines")->type_name("FILE");
  command.add_option("--replay", choice.replay, "answers come from this recording; no model is asked")->type_name("FILE");
}

void add_agent_options(CLI::App& command, AgentOptions& options, bool& json) {
  command.add_option("problem", options.problem, "a Python file with Model, get_inputs() and get_init_inputs()")->required();
  command
      .add_option("--dsl", options.dsl,
                  "what the kernel is written in: cpp, cuda-c, cute or opencl (default: cpp, or by the kernel's file)")
      ->type_name("NAME");
  command
      .add_option(
          "--machine", options.machine,
          "for kernels in CUDA: the GPU, by data sheet: a100, h100, ... (default: this machine's own, else a100); it is virtual")
      ->type_name("GPU");
  command.add_option("--attempts", options.attempts, "kernels at the most, repaired ones included (default 6)")
      ->check(CLI::Range(1, 100));
  command.add_option("--seed", options.seed, "another one gives another answer to the same question, where the model can do that")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{999'999'999}));
  command.add_option("--out", options.out, "where the kernel goes once it passes (default: PROBLEM-MODEL.cpp or .cu here)")
      ->type_name("FILE");
  command.add_option("--precision", options.precision, "the contract: float32 (default), tf32, bf16 or fp16")->type_name("NAME");
  command.add_option("--threads", options.threads, "how many threads (default: all cores)")->check(CLI::Range(1, 4096));
  command
      .add_option("--compile-timeout", options.compile_timeout,
                  "seconds of processor time that the compiler may take (default 120)")
      ->check(CLI::Range(0.1, 86400.0));
  command.add_flag("--unsafe-no-sandbox", options.unsafe_no_sandbox,
                   "run without a sandbox where none can be had; the result says so");
  command.add_flag("--json", json, "print one JSON object");
  add_model_options(command, options.model, false);
}

// What one search and a search on each problem of a folder have in common.
template <typename Options>
void add_search_options(CLI::App& command, Options& options, bool& json) {
  command.add_option("--search", options.search, "the policy: evolve (default), refine, generate or random")
      ->check(CLI::IsMember({"evolve", "refine", "generate", "random"}));
  command.add_option("--evaluations", options.evaluations, "how many kernels at the most")->check(CLI::Range(1, 1000000));
  command.add_option("--seed", options.seed, "the same seed makes the same decisions from the same outcomes")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{999'999'999}));
  command.add_option("--baseline", options.baselines, "what the winner is confirmed against: eager, or eager,compile (default)")
      ->check(CLI::IsMember({"eager", "compile"}))
      ->delimiter(',');
  command.add_option("--precision", options.precision, "the contract: float32 (default), tf32, bf16 or fp16")->type_name("NAME");
  command.add_option("--threads", options.threads, "how many threads (default: all cores)")->check(CLI::Range(1, 4096));
  command.add_flag("--require-win", options.require_win, "exit with status 1 where a kernel is not clearly faster than PyTorch");
  command.add_flag("--unsafe-no-sandbox", options.unsafe_no_sandbox,
                   "run without a sandbox where none can be had; the result says so");
  command.add_flag("--json", json, "print one JSON object");
}

void add_bench_options(CLI::App& command, BenchOptions& options, bool& json) {
  command.add_option("folder", options.folder, "a folder of problems, in KernelBench's layout or any other; its folders too")
      ->required()
      ->type_name("FOLDER");
  command
      .add_option("--time", options.time,
                  "how long for each problem, such as 60s or 5m (default 60s where --evaluations is not given)")
      ->type_name("TIME");
  command.add_option("--only", options.only, "only problems with this in their names; may be repeated")
      ->allow_extra_args(false)
      ->type_name("TEXT");
  command
      .add_option("--scale-to", options.scale_to,
                  "make the batch of a problem smaller until a call of eager takes no longer (100ms) or its tensors need no more "
                  "(2GiB); may be repeated")
      ->allow_extra_args(false)
      ->type_name("LIMIT");
  command
      .add_option("--out", options.out,
                  "the folder for results (default: NAME-bench here); the same command goes on with what is there")
      ->type_name("FOLDER");
  command.add_flag("--again", options.again, "begin anew: forget the results that are there");
  add_search_options(command, options, json);
}

void add_optimize_options(CLI::App& command, OptimizeOptions& options, bool& json) {
  auto* problem = command.add_option("problem", options.problem, "a Python file with Model, get_inputs() and get_init_inputs()");
  command.add_option("--dsl", options.dsl, "what kernels are written in: cpp (default), cuda-c, cute, triton, tilelang or opencl")
      ->check(CLI::IsMember(playbook_dsls()));
  command
      .add_option(
          "--machine", options.machine,
          "for all but cpp and opencl: the GPU, by data sheet: a100, h100, ..., or a .json file (default: this machine's own, else "
          "a100); kernels are compared by estimates, unless that GPU is here to time them")
      ->type_name("GPU");
  command
      .add_option("--time", options.time, "how long in all, such as 60s, 5m or 1h (default 3m where --evaluations is not given)")
      ->type_name("TIME");
  command.add_option("--islands", options.islands, "populations of 'evolve' that exchange individuals (default 1)")
      ->check(CLI::Range(1, 16));
  command.add_option("--out", options.out, "where the kernel goes (default: PROBLEM-runN.cpp here)")->type_name("FILE");
  command.add_option("--resume", options.resume, "go on with this run; --time and --evaluations set a new budget")
      ->type_name("RUN")
      ->excludes(problem);
  add_search_options(command, options, json);
  add_model_options(command, options.model, false);
}

CLI::App* add_model_command(CLI::App& app, ModelCommandOptions& options, bool& json) {
  auto* command = app.add_subcommand("model", "the local language model: get it, serve it; try any model with one question");
  command->require_subcommand(1);
  const auto add = [&](const char* name, const char* what) {
    auto* action = command->add_subcommand(name, what);
    action->callback([&options, name] { options.action = name; });
    action->add_flag("--json", json, "print one JSON object");
    return action;
  };
  add("fetch", "download the local model (1.1 GB) and its server into the cache; goes on where it was broken off");
  auto* serve = add("serve", "serve the local model on this machine until Ctrl-C, as an OpenAI-compatible endpoint");
  serve->add_option("--port", options.port, "where (default: any that is free)")->check(CLI::Range(1, 65535));
  serve->add_option("--threads", options.threads, "how many (default: one fewer than the cores)")->check(CLI::Range(1, 4096));
  auto* test = add("test", "one short exchange, with its time");
  test->add_option("--model", options.model, "'local' (default), or a provider's name for a model");
  test->add_option("--base-url", options.base_url, "where the model is served, if not at its provider's own address")
      ->type_name("URL");
  test->add_option("--protocol", options.protocol, "openai or anthropic (default: by the model's name)")
      ->check(CLI::IsMember({"openai", "anthropic"}));
  return command;
}

void add_vgpu_options(CLI::App& command, VgpuOptions& options, bool& json) {
  command.add_option("--gpu", options.gpu, "the data sheet: a100 (default), h100, ..., or a .json file")->type_name("NAME");
  command.add_flag("!--no-checks", options.checks, "no checks of memory, races and barriers: three times as fast");
  command.add_option("--nvcc", options.nvcc_options, "an option for nvcc, such as -Iinclude; may be repeated")
      ->allow_extra_args(false)
      ->type_name("OPTION");
  command.add_option("--threads", options.threads, "how many threads (default: all cores)")->check(CLI::Range(1, 4096));
  command.add_option("--timeout", options.deadline, "seconds that one launch may take (default: no limit)")
      ->check(CLI::Range(0.01, 86400.0));
  command.add_flag("--json", json, "print one JSON object");
  command.prefix_command();  // what follows the source belongs to the program
}

void add_migrate_options(CLI::App& command, MigrateOptions& options, bool& json) {
  command.add_option("problem", options.problem, "a Python file with Model, get_inputs() and get_init_inputs()")->required();
  command.add_option("kernel", options.kernel, "a kernel that passes on it")->required();
  command.add_option("--to", options.to, "the DSL to write it in: cpp, cuda-c or cute")->required()->type_name("NAME");
  command.add_option("--from", options.from, "the kernel's own DSL (default: by its file)")->type_name("NAME");
  command
      .add_option(
          "--machine", options.machine,
          "for kernels in CUDA: the GPU, by data sheet: a100, h100, ..., or a .json file (default: this machine's own, else a100)")
      ->type_name("GPU");
  command.add_option("--out", options.out, "where the new kernel goes (default: PROBLEM-DSL.cpp or .cu here)")->type_name("FILE");
  command.add_option("--precision", options.precision, "the contract: float32 (default), tf32, bf16 or fp16")->type_name("NAME");
  command.add_option("--threads", options.threads, "how many threads (default: all cores)")->check(CLI::Range(1, 4096));
  command.add_option("--attempts", options.attempts, "of a model (default 6)")->check(CLI::Range(1, 1000));
  command.add_flag("--unsafe-no-sandbox", options.unsafe_no_sandbox,
                   "run without a sandbox where none can be had; the result says so");
  command.add_flag("--json", json, "print one JSON object");
  add_model_options(command, options.model, false);
}

int report(const Result<int>& result, Output& output) {
  if (result) return *result;
  output.error(result.error());
  switch (result.error().kind) {
    case ErrorKind::bad_input:
      return kBadInput;
    case ErrorKind::stopped:
      return kNotPassed;
    case ErrorKind::internal:
      break;
  }
  return kFailed;
}

}  // namespace

int run_cli(int argc, char** argv) {
  CLI::App app{"Kernelwright: a faster kernel for a PyTorch module, proven right and honestly measured.", "kernelwright"};
  app.set_version_flag("--version", fmt::format("kernelwright {}", kVersion));
  app.require_subcommand(1);
  app.formatter(help_format());
  app.footer(
      "Examples:\n"
      "  kernelwright optimize problems/level1/50_rms_norm.py --time 60s\n"
      "  kernelwright doctor\n"
      "  kernelwright describe problems/level1/33_gelu_exact.py\n"
      "  kernelwright verify problems/level1/33_gelu_exact.py my_gelu.cpp\n"
      "  kernelwright measure problems/level1/33_gelu_exact.py my_gelu.cpp\n"
      "  kernelwright vgpu run my_program.cu\n"
      "Exit status: 0 passed, 1 judged and not passed, 2 bad usage or input, 3 the evaluator itself failed.");
  bool json = false;
  DoctorOptions doctor;
  DescribeOptions describe;
  JudgeOptions judge;
  OptimizeOptions optimize;
  RunsOptions runs;
  ShowOptions show;
  LedgerOptions ledger;
  BenchOptions bench;
  VgpuOptions vgpu;
  AgentOptions generate, repair;
  MigrateOptions migrate;

  auto* optimize_command = app.add_subcommand("optimize", "search for the fastest kernel that passes, within a budget");
  add_optimize_options(*optimize_command, optimize, json);
  auto* bench_command = app.add_subcommand("bench", "search on each problem of a folder: a table, CSV, JSON and a web page");
  add_bench_options(*bench_command, bench, json);
  auto* generate_command = app.add_subcommand("generate", "one kernel written by a model, repaired until it passes");
  add_agent_options(*generate_command, generate, json);
  generate_command->add_option("--strategy", generate.strategies, "a strategy to realise; may be repeated")
      ->allow_extra_args(false)
      ->type_name("ID");
  auto* repair_command = app.add_subcommand("repair", "a model diagnoses a kernel that fails and patches it");
  add_agent_options(*repair_command, repair, json);
  repair_command->add_option("kernel", repair.kernel, "the kernel's source: a .cpp, .cu, .cl or .py file")->required();
  auto* migrate_command = app.add_subcommand("migrate", "a kernel written anew in another DSL: same problem, same outputs");
  add_migrate_options(*migrate_command, migrate, json);
  auto* runs_command = app.add_subcommand("runs", "the searches that were made, newest first");
  runs_command->add_option("--limit", runs.limit, "how many (default 20)")->check(CLI::Range(1, 1000000));
  runs_command->add_flag("--parts", runs.parts, "list the searches on sub-problems of larger ones, too");
  auto* delete_option =
      runs_command
          ->add_option("--delete", runs.deleted, "take these runs out of the archive, after asking; not one that is under way")
          ->type_name("RUN...");
  runs_command->add_flag("--yes", runs.yes, "delete without asking")->needs(delete_option);
  runs_command->add_flag("--json", json, "print one JSON object");
  CacheOptions cache;
  auto* cache_command =
      app.add_subcommand("cache", "what can be made again and is kept on the disk: how much, its limit, clear it");
  auto* cache_limit_option =
      cache_command->add_option("--limit", cache.limit, "keep at most this much from now on (at first 4GB)")->type_name("SIZE");
  cache_command->add_flag("--clear", cache.clear, "remove all that no running process uses")->excludes(cache_limit_option);
  cache_command->add_flag("--json", json, "print one JSON object");
  auto* show_command = app.add_subcommand("show", "one search: its winner, its lineage, and what was tried");
  show_command->add_option("run", show.run, "the run's number, as 'kernelwright runs' lists it")->required();
  show_command->add_option("--kernel", show.kernel, "print the source of this kernel of the run")->check(CLI::Range(0, 100000000));
  auto* prompts =
      show_command->add_option("--prompts", show.prompt, "list the exchanges with the model, or print this one in full");
  prompts->expected(0, 1)->type_name("[N]");
  show_command->add_flag("--json", json, "print one JSON object");
  const ViewCommands views(app, json);
  auto* ledger_command = app.add_subcommand("ledger", "what each strategy promised and what it gave, over all runs");
  ledger_command->add_option("--zone", ledger.zone, "memory, balanced, compute or latency")
      ->check(CLI::IsMember({"memory", "balanced", "compute", "latency"}));
  ledger_command->add_option("--class", ledger.workload_class, "a workload class, such as matmul or softmax");
  ledger_command->add_flag("--json", json, "print one JSON object");
  auto* doctor_command = app.add_subcommand("doctor", "what is here, what is missing, and this machine's ceilings");
  doctor_command->add_flag("--refresh", doctor.refresh, "measure the ceilings again");
  doctor_command->add_flag("--json", json, "print one JSON object");
  auto* describe_command = app.add_subcommand("describe", "a problem's tensors, graph, cost, zone, and whether it can be judged");
  describe_command->add_option("problem", describe.problem, "a Python file with Model, get_inputs() and get_init_inputs()")
      ->required();
  describe_command->add_option("--threads", describe.threads, "how many threads (default: all cores)")->check(CLI::Range(1, 4096));
  describe_command->add_flag("--json", json, "print one JSON object");
  auto* verify_command = app.add_subcommand("verify", "compile a kernel, run it in the sandbox, and judge it");
  add_judge_options(*verify_command, judge, json);
  auto* measure_command = app.add_subcommand("measure", "verify a kernel, then time it against PyTorch in pairs");
  add_judge_options(*measure_command, judge, json);
  measure_command->add_option("--against", judge.against, "time against this kernel instead of PyTorch");
  measure_command->add_option("--baseline", judge.baselines, "eager, compile, or both (default)")
      ->check(CLI::IsMember({"eager", "compile"}))
      ->delimiter(',');
  measure_command->add_option("--time", judge.time, "seconds of timing for each baseline, at the most (default 8)")
      ->check(CLI::Range(0.5, 3600.0));

  ModelCommandOptions model;
  auto* model_command = add_model_command(app, model, json);

  auto* vgpu_command =
      app.add_subcommand("vgpu", "CUDA and Triton programs without a GPU: run, checked and counted on a virtual one");
  vgpu_command->require_subcommand(1);
  auto* vgpu_run_command = vgpu_command->add_subcommand(
      "run", "vgpu run [options] FILE.cu|FILE.py [arguments...]: a CUDA program, or a Python program with Triton kernels");
  add_vgpu_options(*vgpu_run_command, vgpu, json);
  auto* vgpu_profile_command =
      vgpu_command->add_subcommand("profile", "the same, then counters by source line and an estimate of the time on the GPU");
  add_vgpu_options(*vgpu_profile_command, vgpu, json);
  vgpu_profile_command->add_option("--lines", vgpu.lines, "how many lines of the source (default 20)")
      ->check(CLI::Range(1, 100000));

  const ManualCommands manual(app, json);
  add_examples(app);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e), kPassed;
    const bool wants_json = std::any_of(argv, argv + argc, [](const char* word) { return std::string_view(word) == "--json"; });
    std::string message = e.what();
    if (argc > 1 && app.get_subcommands().empty()) message = "'" + std::string(argv[1]) + "' is no command";
    Output(wants_json).error(bad_input(message, "kernelwright --help, or kernelwright COMMAND --help"));
    return kBadInput;
  }
  show.prompts = prompts->count() > 0;
  ::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error to report, not a signal to die of
  Output output(json);
  try {
    if (*optimize_command) return report(run_optimize(optimize, output), output);
    if (*bench_command) return report(run_bench(bench, output), output);
    if (*generate_command) return report(run_generate(generate, output), output);
    if (*repair_command) return report(run_repair(repair, output), output);
    if (*migrate_command) return report(run_migrate(migrate, output), output);
    if (*runs_command) return report(runs.deleted.empty() ? run_runs(runs, output) : delete_runs(runs, output), output);
    if (*cache_command) return report(run_cache(cache, output), output);
    if (*show_command) return report(run_show(show, output), output);
    if (const auto printed = manual.run(output)) return report(*printed, output);
    if (const auto looked = views.run(output)) return report(*looked, output);
    if (*ledger_command) return report(run_ledger(ledger, output), output);
    if (*model_command) return report(run_model(model, output), output);
    if (*doctor_command) return report(run_doctor(doctor, output), output);
    if (*describe_command) return report(run_describe(describe, output), output);
    if (*vgpu_command) {
      vgpu.profile = static_cast<bool>(*vgpu_profile_command);
      vgpu.words = (vgpu.profile ? vgpu_profile_command : vgpu_run_command)->remaining();
      return report(run_vgpu(vgpu, output), output);
    }
    if (*verify_command) return report(run_verify(judge, output), output);
    return report(run_measure(judge, output), output);
  } catch (const std::exception& e) {
    output.error(internal_error(e.what(), "this is a bug: please report it with the command that you ran"));
    return kFailed;
  }
}

}  // namespace kw
