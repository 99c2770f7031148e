#include "cli/view_commands.h"

#include <CLI/CLI.hpp>

#include "export/forms.h"

namespace kw {

ViewCommands::ViewCommands(CLI::App& app, bool& json) {
  auto* report = app.add_subcommand("report", "one search as a web page in one file, to keep or to send");
  report->add_option("run", report_.run, "the run's number, as 'kernelwright runs' lists it")->required();
  report->add_option("--out", report_.out, "where the page goes (default: PROBLEM-runN.html here)")->type_name("FILE");
  report->add_flag("--json", json, "print one JSON object");
  report_command_ = report;

  auto* view = app.add_subcommand("view", "all searches in the browser, with those that are going on; read-only, until Ctrl-C");
  view->add_option("--port", view_.port, "where (default: any that is free)")->check(CLI::Range(1, 65535));
  view->add_option("--host", view_.host, "the address to listen at (default 127.0.0.1: this machine alone)")->type_name("ADDRESS");
  view->add_option("--allow-host", view_.names, "a name that others reach this machine by; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME");
  view->add_flag("--json", json, "print one JSON object");
  view_command_ = view;

  auto* compare = app.add_subcommand("compare", "two searches side by side: what differed, and which came further");
  compare->add_option("first", compare_.first, "a run's number")->required();
  compare->add_option("second", compare_.second, "another one's")->required();
  compare->add_flag("--json", json, "print one JSON object");
  compare_command_ = compare;

  auto* best = app.add_subcommand("best", "the fastest confirmed kernel that any search has found for a problem");
  best->add_option("problem", best_.problem, "the problem's file, or its name as 'kernelwright runs' lists it")->required();
  best->add_option("--precision", best_.precision, "of the contract: float32 (default), tf32, bf16 or fp16")->type_name("NAME");
  best->add_option("--out", best_.out, "write the kernel there")->type_name("FILE");
  best->add_flag("--require-win", best_.require_win, "exit with status 1 where it is not clearly faster than PyTorch");
  best->add_flag("--json", json, "print one JSON object");
  best_command_ = best;

  auto* exported =
      app.add_subcommand("export", "a kernel as a PyTorch package, as C++, for KernelBench or for Hugging Face's kernels");
  exported->add_option("run", export_.run, "the run's number, as 'kernelwright runs' lists it")->required();
  exported
      ->add_option("--as", export_.form,
                   "torch: a package with an operator and a drop-in module; cpp: a library without PyTorch; kernelbench: one file "
                   "with ModelNew; hub: a repository that the package 'kernels' loads")
      ->required()
      ->check(CLI::IsMember(export_form_names()));
  exported->add_option("--out", export_.out, "where it goes (default: NAME-torch, ... here)")->type_name("PLACE");
  exported->add_option("--kernel", export_.kernel, "this kernel of the run (default: its winner)")->check(CLI::Range(0, 100000000));
  exported->add_option("--name", export_.name, "of the package (default: by the problem's name)")->type_name("NAME");
  exported->add_flag("--force", export_.force, "write over what is there");
  exported->add_flag("--json", json, "print one JSON object");
  export_command_ = exported;
}

std::optional<Result<int>> ViewCommands::run(Output& output) const {
  if (*report_command_) return run_report(report_, output);
  if (*view_command_) return run_view(view_, output);
  if (*compare_command_) return run_compare(compare_, output);
  if (*best_command_) return run_best(best_, output);
  if (*export_command_) return run_export(export_, output);
  return std::nullopt;
}

}  // namespace kw
