#include "report/suite_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/numbers.h"
#include "report/run_text.h"
#include "report/text_table.h"

namespace kw {
namespace {

constexpr double kSlower = 0.995;  // than eager: then a row says who reaches which ceiling

std::string with_interval(const SuiteComparison& comparison) {
  if (comparison.speedup <= 0) return "-";
  return fmt::format("{} ({:.2f} to {:.2f})", times(comparison.speedup), comparison.interval.low, comparison.interval.high);
}

std::string percent(double share) { return share > 0 ? fmt::format("{:.0f}%", share * 100) : "-"; }

std::string table_of(const SuiteRecord& suite, const Paint& paint) {
  TextTable table({"problem", "verdict", "vs eager", "vs compile", "a call", "ceiling", "by", "tried"}, {4, 5, 7});
  for (const SuiteRow& row : suite.rows) {
    table.add({row.problem, row.outcome, with_interval(row.eager), with_interval(row.compile),
               row.passed() ? human_seconds(row.seconds) : "-", percent(row.share_of_ceiling),
               row.author.empty() ? "-" : row.author, fmt::format("{}", row.evaluations)});
    table.paint_last(1, row.passed());
    if (row.eager.interval.low > 1) table.paint_last(2, true);
    if (row.eager.speedup > 0 && row.eager.interval.high < 1) table.paint_last(2, false);
  }
  return table.text(paint);
}

std::string means_text(const char* name, const SuiteMeans& means, SuiteComparison SuiteRow::*baseline) {
  if (means.count == 0) return "";
  return fmt::format("{:<12} {} geometric mean, {} median of {}; slowest {} ({}), fastest {} ({})\n", name, times(means.geometric),
                     times(means.median), means.count, means.slowest->problem, times((means.slowest->*baseline).speedup),
                     means.fastest->problem, times((means.fastest->*baseline).speedup));
}

std::string totals_text(const SuiteRecord& suite) {
  const SuiteTotals totals = totals_of(suite);
  std::string text = fmt::format("{:<12} {} of {} passed", "correct", totals.passed, totals.done);
  if (totals.done < totals.problems)
    text += fmt::format("; {} of {} problems are still to be done", totals.problems - totals.done, totals.problems);
  std::vector<std::string> shares;
  for (const FastShare& share : totals.fast) shares.push_back(fmt::format("{:g}: {:.0f}%", share.above, share.share * 100));
  text += fmt::format("\n{:<12} {}\n", "fast_p", fmt::join(shares, "  "));
  text += means_text("vs eager", totals.eager, &SuiteRow::eager);
  text += means_text("vs compile", totals.compile, &SuiteRow::compile);
  if (totals.compile_over_eager > 0)
    text += fmt::format("{:<12} {} over eager itself, geometric mean of the same problems\n", "compile",
                        times(totals.compile_over_eager));
  return text;
}

std::string remarks_text(const SuiteRecord& suite, const Paint& paint) {
  std::string text;
  for (const SuiteRow& row : suite.rows) {
    if (!row.passed()) text += fmt::format("  {}: {}\n", row.problem, paint.bad(row.message));
    if (row.passed() && row.eager.speedup < kSlower && row.share_of_ceiling > 0)
      text += fmt::format("  {}: eager is faster: it reaches {} of the ceiling ({}), this kernel {}\n", row.problem,
                          percent(row.eager_share()), row.zone, percent(row.share_of_ceiling));
    if (!row.scaling.empty()) text += fmt::format("  {}: {}\n", row.problem, row.scaling);
  }
  if (!suite.skipped.empty()) text += fmt::format("  not problems: {}\n", fmt::join(suite.skipped, ", "));
  return text.empty() ? "" : "\n" + text;
}

std::string csv_cell(const std::string& cell) {
  if (cell.find_first_of(",\"\n\r") == std::string::npos) return cell;
  std::string text = "\"";
  for (const char c : cell) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + "\"";
}

}  // namespace

std::string suite_line(const SuiteRow& row, const Paint& paint) {
  if (!row.passed()) return fmt::format("{}  {}  {}", row.problem, paint.bad(row.outcome), row.message);
  std::string text = fmt::format("{}  {}  {} over eager", row.problem, paint.good("passed"), with_interval(row.eager));
  if (row.compile.speedup > 0) text += fmt::format(", {} over torch.compile", times(row.compile.speedup));
  return text + fmt::format("  {} in {}", row.evaluations == 1 ? "1 kernel" : fmt::format("{} kernels", row.evaluations),
                            human_duration(row.spent_seconds));
}

std::string suite_text(const SuiteRecord& suite, const Paint& paint) {
  std::string text = suite.rows.empty() ? "" : table_of(suite, paint) + "\n";
  text += totals_text(suite);
  return text + remarks_text(suite, paint);
}

std::string suite_csv(const SuiteRecord& suite) {
  std::string text =
      "problem,outcome,eager,eager_low,eager_high,compile,compile_low,compile_high,seconds,share_of_ceiling,eager_share_of_ceiling,"
      "zone,author,evaluations,spent_seconds,run,kernel,scaling,message\n";
  const auto number = [](double value) { return value > 0 ? fmt::format("{:.6g}", value) : ""; };
  for (const SuiteRow& row : suite.rows) {
    std::vector<std::string> cells{row.problem, row.outcome};
    for (const SuiteComparison& each : {row.eager, row.compile})
      for (const double value : {each.speedup, each.interval.low, each.interval.high}) cells.push_back(number(value));
    for (const double value : {row.seconds, row.share_of_ceiling, row.eager_share()}) cells.push_back(number(value));
    for (const std::string& word : {row.zone, row.author, fmt::format("{}", row.evaluations), number(row.spent_seconds), row.run,
                                    row.kernel, row.scaling, row.message})
      cells.push_back(word);
    for (std::string& cell : cells) cell = csv_cell(cell);
    text += fmt::format("{}\n", fmt::join(cells, ","));
  }
  return text;
}

}  // namespace kw
