#include "report/suite_text.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/numbers.h"
#include "report/run_text.h"
#include "report/text_table.h"

namespace kw {
namespace {

std::string with_interval(const SuiteComparison& comparison) {
  if (comparison.speedup <= 0) return "-";
  return fmt::format("{} ({:.2f} to {:.2f})", times(comparison.speedup), comparison.interval.low, comparison.interval.high);
}

std::string percent(double share) { return share > 0 ? fmt::format("{:.0f}%", share * 100) : "-"; }

enum Column : std::size_t { kProblem, kVerdict, kEager, kCompile, kCall, kCeiling, kAuthor, kTried };
constexpr const char* kTitles[] = {"problem", "verdict", "vs eager", "vs compile", "a call", "ceiling", "by", "tried"};
constexpr Column kLeftOut[] = {kTried, kAuthor, kCall, kCeiling};  // in this order, where a terminal is narrow
// The number of a problem and how it begins; with hardly any room, its number alone.
constexpr std::size_t kShortName = 20, kShortestName = 12;

std::string cut(const std::string& name, std::size_t most) { return name.size() <= most ? name : name.substr(0, most - 2) + ".."; }

std::string table_with(const SuiteRecord& suite, const Paint& paint, const std::vector<Column>& columns, std::size_t longest_name) {
  std::vector<std::string> titles;
  std::set<std::size_t> numbers;
  for (const Column column : columns) {
    if (column == kCall || column == kCeiling || column == kTried) numbers.insert(titles.size());
    titles.emplace_back(kTitles[column]);
  }
  TextTable table(std::move(titles), std::move(numbers));
  for (const SuiteRow& row : suite.rows) {
    const std::string all[] = {cut(row.problem, longest_name),
                               row.standing() == Standing::slower ? "slower" : row.outcome,  // it passed, and lost
                               with_interval(row.eager),
                               with_interval(row.compile),
                               row.passed() ? human_seconds(row.seconds) : "-",
                               percent(row.share_of_ceiling),
                               row.author.empty() ? "-" : row.author,
                               fmt::format("{}", row.evaluations)};
    std::vector<std::string> cells;
    for (const Column column : columns) cells.push_back(all[column]);
    table.add(std::move(cells));
    table.paint_last(kVerdict, row.passed() && row.standing() != Standing::slower);
    if (row.eager.interval.low > 1) table.paint_last(kEager, true);
    if (row.loses_to_eager()) table.paint_last(kEager, false);
  }
  return table.text(paint);
}

std::size_t width_of(std::string_view table) {
  std::size_t widest = 0;
  for (std::size_t begin = 0; begin < table.size();) {
    const std::size_t end = std::min(table.find('\n', begin), table.size());
    widest = std::max(widest, end - begin);
    begin = end + 1;
  }
  return widest;
}

std::string table_of(const SuiteRecord& suite, const Paint& paint, std::size_t width) {
  std::vector<Column> columns{kProblem, kVerdict, kEager, kCompile, kCall, kCeiling, kAuthor, kTried};
  std::size_t longest_name = kShortName;
  for (const SuiteRow& row : suite.rows) longest_name = std::max(longest_name, row.problem.size());
  const auto excess = [&] {
    const std::size_t wide = width_of(table_with(suite, {}, columns, longest_name));
    return width > 0 && wide > width ? wide - width : 0;
  };
  const auto cut_names = [&](std::size_t least) {
    longest_name = std::max(least, longest_name - std::min(longest_name, excess()));
  };
  cut_names(kShortName);
  for (const Column column : kLeftOut)
    if (excess() > 0) std::erase(columns, column);
  cut_names(kShortestName);
  return table_with(suite, paint, columns, longest_name);
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
  if (totals.passed > 0)
    text += fmt::format("\n{:<12} {} faster, {} slower, {} without a clear difference", "vs PyTorch", totals.faster, totals.slower,
                        totals.unclear);
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
    if (row.loses_to_eager() && row.share_of_ceiling > 0)
      text += fmt::format("  {}: eager is faster: it reaches {} of the ceiling ({}), this kernel {}\n", row.problem,
                          percent(row.eager_share()), row.zone, percent(row.share_of_ceiling));
    if (!row.loses_to_eager() && row.standing() == Standing::slower)
      text += fmt::format("  {}: torch.compile is faster: the kernel has {} its speed\n", row.problem, times(row.compile.speedup));
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
  const bool is_slower = row.standing() == Standing::slower;
  std::string text =
      fmt::format("{}  {}  {} over eager", row.problem,
                  is_slower ? paint.bad("passed, but PyTorch is faster") : paint.good("passed"), with_interval(row.eager));
  if (row.compile.speedup > 0) text += fmt::format(", {} over torch.compile", times(row.compile.speedup));
  return text + fmt::format("  {} in {}", row.evaluations == 1 ? "1 kernel" : fmt::format("{} kernels", row.evaluations),
                            human_duration(row.spent_seconds));
}

std::string suite_text(const SuiteRecord& suite, const Paint& paint, std::size_t width) {
  std::string text = suite.rows.empty() ? "" : table_of(suite, paint, width) + "\n";
  text += totals_text(suite);
  return text + remarks_text(suite, paint);
}

std::string suite_csv(const SuiteRecord& suite) {
  std::string text =
      "problem,outcome,eager,eager_low,eager_high,compile,compile_low,compile_high,seconds,share_of_ceiling,eager_share_of_ceiling,"
      "zone,author,evaluations,spent_seconds,run,kernel,scaling,message,standing\n";
  const auto number = [](double value) { return value > 0 ? fmt::format("{:.6g}", value) : ""; };
  for (const SuiteRow& row : suite.rows) {
    std::vector<std::string> cells{row.problem, row.outcome};
    for (const SuiteComparison& each : {row.eager, row.compile})
      for (const double value : {each.speedup, each.interval.low, each.interval.high}) cells.push_back(number(value));
    for (const double value : {row.seconds, row.share_of_ceiling, row.eager_share()}) cells.push_back(number(value));
    for (const std::string& word : {row.zone, row.author, fmt::format("{}", row.evaluations), number(row.spent_seconds), row.run,
                                    row.kernel, row.scaling, row.message, std::string(name_of(row.standing()))})
      cells.push_back(word);
    for (std::string& cell : cells) cell = csv_cell(cell);
    text += fmt::format("{}\n", fmt::join(cells, ","));
  }
  return text;
}

}  // namespace kw
