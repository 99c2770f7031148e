// The commands that only look: report, view, compare, best, export. Each reads the archive and writes nothing into it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/output.h"

namespace CLI {
class App;
}

namespace kw {

struct ReportOptions {
  std::string run;
  std::string out;  // empty: PROBLEM-runN.html here
};
Result<int> run_report(const ReportOptions& options, Output& output);

struct ViewOptions {
  std::string host = "127.0.0.1";
  int port = 0;  // 0: any that is free
  std::vector<std::string> names;
};
Result<int> run_view(const ViewOptions& options, Output& output);

struct CompareOptions {
  std::string first, second;
};
Result<int> run_compare(const CompareOptions& options, Output& output);

struct BestOptions {
  std::string problem;
  std::string precision = "float32";
  std::string out;           // write the kernel there; empty: only say which
  bool require_win = false;  // a kernel that is not clearly faster than PyTorch ends with status 1
};
Result<int> run_best(const BestOptions& options, Output& output);

struct ExportOptions {
  std::string run;
  std::string form;                    // torch, cpp, kernelbench, hub
  std::string out;                     // empty: NAME-FORM here
  std::optional<std::int64_t> kernel;  // of the run; none: its winner
  std::string name;                    // empty: by the problem's
  bool force = false;                  // write over what is there
};
Result<int> run_export(const ExportOptions& options, Output& output);

// Adds them to the program; run() is the outcome of the one that was asked for.
class ViewCommands {
 public:
  ViewCommands(CLI::App& app, bool& json);
  std::optional<Result<int>> run(Output& output) const;

 private:
  ReportOptions report_;
  ViewOptions view_;
  CompareOptions compare_;
  BestOptions best_;
  ExportOptions export_;
  const CLI::App *report_command_, *view_command_, *compare_command_, *best_command_, *export_command_;
};

}  // namespace kw
