#include "report/compare_text.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "record/standing.h"
#include "report/numbers.h"
#include "report/run_text.h"
#include "report/text_table.h"

namespace kw {
namespace {

const Comparison* against(const RunView& view, std::string_view baseline) { return comparison_with(view.run.confirmed, baseline); }

std::string speedup_text(const RunView& view, std::string_view baseline) {
  if (view.run.options.is_estimated()) return "not timed";
  const Comparison* comparison = against(view, baseline);
  if (comparison)
    return fmt::format("{} ({:.2f} to {:.2f})", times(comparison->speedup), comparison->interval.low, comparison->interval.high);
  const Individual* best = baseline == "eager" ? best_of(view.run, view.individuals) : nullptr;
  return best ? "not confirmed" : "-";
}

std::vector<std::string> strategies_of(const RunView& view) {
  const Individual* best = best_of(view.run, view.individuals);
  std::vector<std::string> ids = best ? best->real_strategies() : std::vector<std::string>{};
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::vector<std::string> only_in(const std::vector<std::string>& these, const std::vector<std::string>& others) {
  std::vector<std::string> only;
  std::set_difference(these.begin(), these.end(), others.begin(), others.end(), std::back_inserter(only));
  return only;
}

std::string knobs_of(const RunView& view) {
  const Individual* best = best_of(view.run, view.individuals);
  std::vector<std::string> words;
  if (best)
    for (const auto& [name, value] : best->proposal.knobs) words.push_back(fmt::format("{}={}", name, value));
  return words.empty() ? "-" : fmt::format("{}", fmt::join(words, " "));
}

// What can be said of which is faster; a difference counts where the intervals do not touch.
std::string conclusion(const RunView& first, const RunView& second) {
  if (first.run.problem_hash != second.run.problem_hash)
    return "these are different problems: their speedups say nothing about each other";
  if (first.run.machine_id != second.run.machine_id || first.run.options.timed_on != second.run.options.timed_on)
    return "these ran on different machines: their speedups say little about each other";
  if (first.run.options.is_estimated() || second.run.options.is_estimated())
    return "estimates are not compared: kernelwright show prints each run's";
  const Comparison* a = against(first, "eager");
  const Comparison* b = against(second, "eager");
  if (!a || !b) return "not both have a confirmed kernel: nothing can be said of which is faster";
  const bool first_leads = a->speedup >= b->speedup;
  const Comparison& better = first_leads ? *a : *b;
  const Comparison& other = first_leads ? *b : *a;
  const std::string& id = (first_leads ? first : second).run.id;
  if (better.interval.low > other.interval.high)
    return fmt::format("run {} came further: {:.2f} times the speedup of the other, and the intervals do not overlap", id,
                       better.speedup / other.speedup);
  return "no clear difference: the intervals overlap; time the kernels against each other with kernelwright measure --against";
}

}  // namespace

std::string compare_text(const RunView& first, const RunView& second, const Paint& paint) {
  TextTable table({"", "run " + first.run.id, "run " + second.run.id, ""}, {});
  const auto row = [&](const char* name, const std::function<std::string(const RunView&)>& text) {
    const std::string a = text(first), b = text(second);
    table.add({name, a, b, a == b ? "" : "*"});
  };
  row("problem", [](const RunView& v) { return v.run.problem_name; });
  row("search", [](const RunView& v) { return v.run.options.search; });
  row("seed", [](const RunView& v) { return std::to_string(v.run.options.seed); });
  row("model", [](const RunView& v) { return v.run.options.model.empty() ? "none" : v.run.options.model; });
  row("kernels", [](const RunView& v) { return v.run.options.dsl; });
  row("precision", [](const RunView& v) { return v.run.options.precision; });
  row("threads", [](const RunView& v) { return std::to_string(v.run.options.threads); });
  row("machine", [](const RunView& v) { return v.machine ? v.machine->cpu_model : v.run.machine_id.substr(0, 12); });
  row("version", [](const RunView& v) { return "PyTorch " + v.run.torch_version; });
  row("state", [](const RunView& v) { return v.run.state; });
  row("time", [](const RunView& v) { return human_duration(v.run.elapsed_seconds); });
  row("tried", [](const RunView& v) { return std::to_string(v.individuals.size()); });
  row("passed", [](const RunView& v) {
    return std::to_string(
        std::count_if(v.individuals.begin(), v.individuals.end(), [](const Individual& i) { return i.passed(); }));
  });
  row("best", [](const RunView& v) { return v.run.winner >= 0 ? fmt::format("kernel {}", v.run.winner) : "-"; });
  row("result", [](const RunView& v) {
    const Standing standing = standing_of(v.run.confirmed);
    return standing == Standing::unknown ? std::string("-") : std::string(headline_of(standing));
  });
  row("vs eager", [](const RunView& v) { return speedup_text(v, "eager"); });
  row("estimate", [](const RunView& v) {
    return v.run.estimate ? fmt::format("{} a call on {}", human_seconds(v.run.estimate->seconds), v.run.estimate->gpu_name) : "-";
  });
  row("vs compile", [](const RunView& v) { return speedup_text(v, "compile"); });
  row("a call", [](const RunView& v) { return v.run.confirmed ? human_seconds(v.run.confirmed->seconds) : "-"; });
  row("of the ceiling",
      [](const RunView& v) { return v.run.confirmed ? fmt::format("{:.0f}%", v.run.confirmed->share_of_ceiling * 100) : "-"; });
  row("knobs", knobs_of);
  std::string text = table.text(paint);
  const auto a = strategies_of(first), b = strategies_of(second);
  std::vector<std::string> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  text += fmt::format("\n{}\n", paint.strong("strategies"));
  for (const auto& [name, ids] :
       {std::pair{std::string("both"), both}, {"run " + first.run.id, only_in(a, b)}, {"run " + second.run.id, only_in(b, a)}})
    text += fmt::format("  {:<10} {}\n", name, ids.empty() ? "-" : fmt::format("{}", fmt::join(ids, ", ")));
  return text + fmt::format("\n{}\n", conclusion(first, second));
}

Json compare_json(const RunView& first, const RunView& second) {
  const auto a = strategies_of(first), b = strategies_of(second);
  return {{"first", first.run},
          {"second", second.run},
          {"strategies", {{"first", only_in(a, b)}, {"second", only_in(b, a)}}},
          {"conclusion", conclusion(first, second)}};
}

}  // namespace kw
