#include "report/run_text.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "record/standing.h"
#include "report/numbers.h"
#include "report/text_table.h"

namespace kw {
namespace {

constexpr std::size_t kMostProgress = 12;
constexpr std::size_t kMostFailures = 10;
constexpr std::size_t kMostLineage = 20;

std::string clipped(std::string text, std::size_t width) {
  if (text.size() <= width) return text;
  return width < 4 ? text.substr(0, width) : text.substr(0, width - 3) + "...";
}

const Individual* individual_at(const std::vector<Individual>& individuals, std::int64_t index) {
  const auto found =
      std::find_if(individuals.begin(), individuals.end(), [&](const Individual& individual) { return individual.index == index; });
  return found == individuals.end() ? nullptr : &*found;
}

std::string header_text(const RunRecord& run, std::size_t tried, const Paint& paint) {
  std::string text = fmt::format("{}  {}", paint.strong("run " + run.id), run.problem_name);
  if (!run.problem_file.empty()) text += fmt::format(" ({})", run.problem_file);
  text += fmt::format("\n{:<11} {}, seed {}, precision {}", "search", run.options.search, run.options.seed, run.options.precision);
  if (run.options.islands > 1) text += fmt::format(", {} islands", run.options.islands);
  if (run.options.is_estimated())
    text += fmt::format("\n{:<11} {} for {}: estimated on a virtual GPU, nothing was timed", "kernels", run.options.dsl,
                        run.estimate                  ? run.estimate->gpu_name
                        : run.options.machine.empty() ? "a100"
                                                      : run.options.machine);
  else if (run.options.threads > 0 && !run.options.is_on_gpu())
    text += fmt::format(", {} thread{}", run.options.threads, run.options.threads == 1 ? "" : "s");
  if (!run.options.is_estimated() && run.options.dsl != "cpp")
    text += fmt::format("\n{:<11} {}, run and timed on {}", "kernels", run.options.dsl,
                        run.options.timed_on.empty() ? "this machine" : run.options.timed_on);
  if (!run.options.part_of.empty()) text += fmt::format("\n{:<11} a sub-problem of run {}", "part", run.options.part_of);
  text += fmt::format("\n{:<11} {}{} after {}, {} evaluation{}\n", "state", run.state,
                      run.ending.empty() ? "" : " (" + run.ending + ")", human_duration(run.elapsed_seconds), tried,
                      tried == 1 ? "" : "s");
  if (!run.zone.empty())
    text += fmt::format("{:<11} {}{}\n", "zone", run.zone, run.workload_class.empty() ? "" : ", " + run.workload_class);
  if (!run.shape.empty()) text += fmt::format("{:<11} {}\n", "shape", run.shape);
  return text;
}

std::string knobs_text(const KnobValues& knobs) {
  std::vector<std::string> values;
  for (const auto& [name, value] : knobs) values.push_back(fmt::format("{}={}", name, value));
  return fmt::format("{}", fmt::join(values, " "));
}

// A kernel that PyTorch outruns, or may, is no winner.
std::string_view title_of_best(const RunRecord& run) {
  if (run.winner < 0) return "best so far";
  return run.options.is_estimated() || standing_of(run.confirmed) == Standing::faster ? "winner     " : "best kernel";
}

// One number for one kernel: of the winner what was confirmed, not what the search saw.
double shown_speedup(const RunRecord& run, const Individual& individual) {
  return individual.index == run.winner ? confirmed_speedup(run).value_or(individual.speedup) : individual.speedup;
}

// What the figures of a table are.
std::string unit_of(const RunRecord& run) {
  if (run.options.is_estimated()) return fmt::format("  (over {}, estimates)", run.reference);
  if (!confirmed_speedup(run)) return "  (brief timings of the search, not confirmed)";
  return fmt::format("  (brief timings of the search; kernel {}'s is confirmed)", run.winner);
}

std::string winner_text(const RunRecord& run, const Individual& best, const Paint& paint) {
  std::string text = fmt::format("\n{} {} ({}, generation {}, by {})\n", paint.strong(title_of_best(run)), best.index,
                                 best.proposal.origin, best.proposal.generation, best.kernel.author);
  if (run.options.is_estimated()) {
    const bool confirmed = run.estimate && best.index == run.winner;
    const double gain = confirmed && run.reference_seconds > 0 ? run.reference_seconds / run.estimate->seconds : best.speedup;
    text += fmt::format("  {:<10}{:>8}  over {} (estimate): {} against {} a call\n", "gain", times(gain), run.reference,
                        human_seconds(confirmed ? run.estimate->seconds : best.seconds), human_seconds(run.reference_seconds));
    if (confirmed) text += text_of(*run.estimate, paint);
  } else if (run.confirmed && best.index == run.winner) {
    text += text_of(*run.confirmed, paint);
  } else if (best.speedup > 0) {
    text += fmt::format("  {:<10}not confirmed; a brief timing of the search: {} ({:.2f} to {:.2f}), {} a call\n", "vs eager",
                        times(best.speedup), best.interval.low, best.interval.high, human_seconds(best.seconds));
  }
  if (!best.proposal.knobs.empty()) text += fmt::format("  {:<10}{}\n", "knobs", knobs_text(best.proposal.knobs));
  return text;
}

// What each claimed strategy shows in the code, a line each.
std::string alignment_text(const Individual& best, const Paint& paint) {
  std::string text;
  std::size_t width = 0;
  for (const auto& strategy : best.strategies) width = std::max(width, strategy.id.size());
  for (std::size_t i = 0; i < best.strategies.size(); ++i) {
    const AlignedStrategy& strategy = best.strategies[i];
    const std::string presence = fmt::format("{:<8}", name_of(strategy.presence));
    text += fmt::format(
        "  {:<11}{} {:<{}}{}\n", i == 0 ? "strategies" : "", strategy.presence == Presence::struck ? paint.bad(presence) : presence,
        strategy.id, strategy.evidence.empty() ? 0 : width, strategy.evidence.empty() ? "" : "  " + paint.faint(strategy.evidence));
  }
  return text;
}

// Several lines behind one label.
std::string labelled(std::string_view label, const std::vector<std::string>& lines) {
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) text += fmt::format("  {:<10}{}\n", i == 0 ? label : "", lines[i]);
  return text;
}

// The strategies that are in the code, by name, in lines that fit a terminal.
std::vector<std::string> strategy_lines(const Individual& best) {
  constexpr std::size_t kWidth = 86;
  std::vector<std::string> lines;
  for (const std::string& id : best.real_strategies()) {
    if (lines.empty() || lines.back().size() + 1 + id.size() > kWidth)
      lines.push_back(id);
    else
      lines.back() += " " + id;
  }
  return lines;
}

// Gained, lost and turned, from the parent to the child: "+ a - b KW_UNROLL 2 -> 4".
std::string changes_text(const Individual* parent, const Individual& child) {
  std::vector<std::string> parts;
  const auto now = child.real_strategies();
  const auto before = parent ? parent->real_strategies() : std::vector<std::string>{};
  for (const std::string& id : now)
    if (std::find(before.begin(), before.end(), id) == before.end()) parts.push_back("+" + id);
  for (const std::string& id : before)
    if (std::find(now.begin(), now.end(), id) == now.end()) parts.push_back("-" + id);
  if (parent) {
    std::set<std::string> names;
    for (const auto& [name, value] : child.proposal.knobs) names.insert(name);
    for (const auto& [name, value] : parent->proposal.knobs) names.insert(name);
    const auto value_of = [](const Individual& of, const std::string& name) {
      const auto set = of.proposal.knobs.find(name);
      if (set != of.proposal.knobs.end()) return set->second;
      const auto knob = std::find_if(of.kernel.knobs.begin(), of.kernel.knobs.end(), [&](const Knob& k) { return k.name == name; });
      return knob == of.kernel.knobs.end() ? std::string("default") : std::to_string(knob->standard);
    };
    for (const std::string& name : names)
      if (const auto from = value_of(*parent, name), to = value_of(child, name); from != to)
        parts.push_back(fmt::format("{} {} -> {}", name, from, to));
  } else if (!child.proposal.knobs.empty()) {
    parts.push_back(knobs_text(child.proposal.knobs));
  }
  return parts.empty() ? "no change" : fmt::format("{}", fmt::join(parts, " "));
}

// From a seed to the winner, through the better of two parents.
std::string lineage_text(const RunRecord& run, const std::vector<Individual>& individuals, const Individual& best,
                         const Paint& paint) {
  std::vector<const Individual*> chain{&best};
  std::vector<std::vector<std::int64_t>> others{{}};
  while (true) {
    const Individual* child = chain.back();
    const Individual* parent = nullptr;
    for (const std::int64_t index : child->proposal.parents) {
      const Individual* candidate = index < child->index ? individual_at(individuals, index) : nullptr;  // never in circles
      if (candidate && (!parent || candidate->speedup > parent->speedup)) parent = candidate;
    }
    if (!parent) break;
    for (const std::int64_t index : child->proposal.parents)
      if (index != parent->index) others.back().push_back(index);
    chain.push_back(parent);
    others.emplace_back();
  }
  std::string text = fmt::format("\n{}{}\n", paint.strong("lineage"), unit_of(run));
  for (std::size_t step = chain.size(); step-- > 0;) {
    const std::size_t from_start = chain.size() - 1 - step;
    if (chain.size() > kMostLineage && from_start >= kMostLineage / 2 && step >= kMostLineage / 2) {
      if (from_start == kMostLineage / 2) text += fmt::format("  ... {} steps\n", chain.size() - kMostLineage);
      continue;
    }
    const Individual& individual = *chain[step];
    const Individual* parent = step + 1 < chain.size() ? chain[step + 1] : nullptr;
    text += fmt::format("  {:>5}  {:<10} {:>8}  {}", individual.index, individual.proposal.origin,
                        times(shown_speedup(run, individual)), changes_text(parent, individual));
    if (!others[step].empty()) text += paint.faint(fmt::format("  (with {})", fmt::join(others[step], ", ")));
    text += "\n";
  }
  return text;
}

// How many kernels got which verdict, in one line.
std::string verdicts_text(const std::vector<Individual>& individuals) {
  std::map<std::string, int> verdicts;
  int same_code = 0;
  for (const Individual& individual : individuals) {
    ++verdicts[std::string(name_of(individual.verdict))];
    same_code += individual.duplicate_of >= 0 ? 1 : 0;
  }
  std::vector<std::pair<int, std::string>> sorted;
  for (const auto& [name, count] : verdicts) sorted.emplace_back(-count, name);
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::string> parts;
  for (const auto& [count, name] : sorted) parts.push_back(fmt::format("{} {}", -count, name));
  std::string text = fmt::format("{}", fmt::join(parts, ", "));
  if (same_code > 0) text += fmt::format("; {} had the same code as an earlier one", same_code);
  return text;
}

std::string tried_text(const std::vector<Individual>& individuals, const Paint& paint) {
  std::map<std::string, std::pair<int, int>> origins;  // tried, passed
  for (const Individual& individual : individuals) {
    auto& [tried, passed] = origins[individual.proposal.origin];
    ++tried;
    passed += individual.passed() ? 1 : 0;
  }
  std::string text = fmt::format("\n{}  {}\n", paint.strong("tried"), verdicts_text(individuals));
  for (const auto& [origin, counts] : origins)
    text += fmt::format("  {:<10} {:>4} tried, {:>4} passed\n", origin, counts.first, counts.second);
  return text;
}

std::string progress_text(const RunRecord& run, const std::vector<Individual>& individuals, const Paint& paint) {
  struct Improvement {
    const Individual* individual;
    double seconds;
  };
  std::vector<Improvement> improvements;
  double best = 0, spent = 0;
  for (const Individual& individual : individuals) {
    spent += individual.spent_seconds;
    if (!individual.passed() || individual.speedup <= best) continue;
    best = individual.speedup;
    improvements.push_back({&individual, spent});
  }
  if (improvements.empty()) return "";
  std::string text = fmt::format("\n{}{}\n", paint.strong("progress"), unit_of(run));
  const std::size_t skipped = improvements.size() > kMostProgress ? improvements.size() - kMostProgress : 0;
  for (std::size_t i = 0; i < improvements.size(); ++i) {
    if (skipped > 0 && i >= 1 && i < 1 + skipped) {
      if (i == 1) text += fmt::format("  ... {} more\n", skipped);
      continue;
    }
    const Individual& individual = *improvements[i].individual;
    text += fmt::format("  {:>5}  {:<10} {:>8}  after {}\n", individual.index, individual.proposal.origin,
                        times(shown_speedup(run, individual)), human_duration(improvements[i].seconds));
  }
  return text;
}

std::string failures_text(const std::vector<Individual>& individuals, const Paint& paint) {
  std::vector<std::pair<const Individual*, int>> groups;  // the first with a diagnosis, and how many there are
  for (const Individual& individual : individuals) {
    if (individual.passed()) continue;
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return group.first->verdict == individual.verdict && group.first->diagnosis == individual.diagnosis;
    });
    if (same == groups.end())
      groups.emplace_back(&individual, 1);
    else
      ++same->second;
  }
  if (groups.empty()) return "";
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text = fmt::format("\n{}\n", paint.strong("failures"));
  for (std::size_t i = 0; i < std::min(groups.size(), kMostFailures); ++i) {
    const auto& [individual, count] = groups[i];
    const std::string one_line = individual->diagnosis.substr(0, individual->diagnosis.find('\n'));
    text += fmt::format("  {:>5}  {:<14} {}{}\n", individual->index, name_of(individual->verdict), clipped(one_line, 100),
                        count > 1 ? paint.faint(fmt::format("  (and {} like it)", count - 1)) : "");
  }
  if (groups.size() > kMostFailures) text += fmt::format("  ... and {} other kinds\n", groups.size() - kMostFailures);
  return text;
}

int failed_in(const LiveState& state) {
  int failed = 0;
  for (const auto& [verdict, count] : state.failures) failed += count;
  return failed;
}

double per_minute(const LiveState& state) { return state.elapsed_seconds > 0 ? state.evaluations * 60 / state.elapsed_seconds : 0; }

std::string left_text(const LiveState& state) {
  std::vector<std::string> parts;
  if (state.seconds_left) parts.push_back(human_duration(std::max(0.0, *state.seconds_left)));
  if (state.evaluations_left)
    parts.push_back(fmt::format("{} evaluation{}", *state.evaluations_left, *state.evaluations_left == 1 ? "" : "s"));
  return parts.empty() ? "" : fmt::format("{} left", fmt::join(parts, " or "));
}

}  // namespace

const Individual* best_of(const RunRecord& run, const std::vector<Individual>& individuals) {
  if (const Individual* winner = individual_at(individuals, run.winner)) return winner;
  const Individual* best = nullptr;
  for (const Individual& individual : individuals)
    if (individual.passed() && individual.speedup > 0 && (!best || individual.speedup > best->speedup)) best = &individual;
  return best;
}

std::string parts_text(const std::vector<PartRecord>& parts, const Paint& paint) {
  if (parts.empty()) return "";
  constexpr std::size_t kMost = 10;
  int places = 0;
  for (const PartRecord& part : parts) places += part.places;
  std::string text = fmt::format("\n{}  {}, {} of them distinct\n", paint.strong("sub-problems"), places, parts.size());
  double rest = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const PartRecord& part = parts[i];
    if (i >= kMost && parts.size() > kMost + 1) {
      rest += part.share;
      continue;
    }
    text += fmt::format("  {:>4.0f}%  {:>3} place{}  {}", part.share * 100, part.places, part.places == 1 ? " " : "s",
                        clipped(part.operations, 70));
    if (part.speedup > 0)
      text += paint.faint(fmt::format("  ({} eager on its own, not confirmed, run {})", times(part.speedup), part.run));
    text += "\n";
  }
  if (parts.size() > kMost + 1) text += fmt::format("  {:>4.0f}%  in {} others\n", rest * 100, parts.size() - kMost);
  return text;
}

std::string human_duration(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string first_line(const RunRecord& run, const std::vector<Individual>& individuals, const Paint& paint) {
  if (run.options.is_estimated() || run.state == "running") return "";
  const Standing standing = standing_of(run.confirmed);
  const std::string words = standing_words(run.confirmed);
  if (standing == Standing::faster) return paint.good(words) + "\n";
  if (standing == Standing::slower) return paint.bad(words) + "\n";
  if (standing == Standing::unclear) return paint.strong(words) + "\n";
  if (best_of(run, individuals) == nullptr) return "";
  return paint.strong(run.options.part_of.empty() ? "not confirmed: no kernel was verified in full and timed against PyTorch"
                                                  : "not confirmed: what counts is the kernel of the whole problem") +
         "\n";
}

std::string runs_text(const std::vector<RunListing>& runs, const Paint& paint) {
  if (runs.empty()) return "no runs yet: kernelwright optimize PROBLEM starts one\n";
  TextTable table({"run", "problem", "search", "state", "tried", "best", "time", "when"}, {4, 5, 6});
  for (const RunListing& summary : runs) {
    const RunRecord& run = summary.run;
    // 2026-01-02T03:04:05Z: the seconds say nothing to a person.
    std::string when = run.created_at.substr(0, 16);
    std::replace(when.begin(), when.end(), 'T', ' ');
    const std::optional<double> speedup = confirmed_speedup(run);
    const Standing standing = standing_of(run.confirmed);
    std::string best = summary.passed > 0 ? "not confirmed" : "-";
    if (speedup) best = times(*speedup) + (run.options.is_estimated() ? " (estimate)" : "");
    if (standing == Standing::slower) best += " (slower)";
    const std::string& whole = run.options.part_of;
    table.add({run.id, whole.empty() ? run.problem_name : fmt::format("{} (part of run {})", run.problem_name, whole),
               run.options.search, run.state, std::to_string(summary.evaluations), std::move(best),
               human_duration(run.elapsed_seconds), when});
    if (standing == Standing::faster || standing == Standing::slower) table.paint_last(5, standing == Standing::faster);
  }
  return table.text(paint);
}

std::string run_text(const RunRecord& run, const std::vector<Individual>& individuals, const Paint& paint) {
  std::string text = first_line(run, individuals, paint) + header_text(run, individuals.size(), paint);
  if (const Individual* best = best_of(run, individuals)) {
    text += winner_text(run, *best, paint) + alignment_text(*best, paint) + labelled("profile", best->findings);
    text += lineage_text(run, individuals, *best, paint);
  } else {
    text += "\nno kernel has passed\n";
  }
  text += parts_text(run.parts, paint);
  if (!individuals.empty())
    text += tried_text(individuals, paint) + progress_text(run, individuals, paint) + failures_text(individuals, paint);
  return text;
}

std::string summary_text(const RunRecord& run, const std::vector<Individual>& individuals, const Paint& paint) {
  std::string text = first_line(run, individuals, paint) + header_text(run, individuals.size(), paint);
  const Individual* best = best_of(run, individuals);
  if (best)
    text += winner_text(run, *best, paint) + labelled("by", strategy_lines(*best)) + labelled("profile", best->findings);
  else
    text += "\nno kernel has passed\n";
  text += parts_text(run.parts, paint);
  if (best && !individuals.empty()) text += fmt::format("  {:<10}{}\n", "tried", verdicts_text(individuals));
  return best ? text : text + failures_text(individuals, paint);
}

std::string ledger_text(const std::vector<LedgerLine>& rows, const Paint& paint) {
  if (rows.empty())
    return "the ledger is empty: a search (kernelwright optimize) fills it where two kernels pass that differ in their "
           "strategies\n";
  TextTable table({"strategy", "zone", "class", "predicted", "measured", "95%", "n", "failed"}, {3, 4, 6, 7});
  for (const LedgerLine& row : rows) {
    const bool known = row.comparisons > 0;
    table.add({row.strategy, row.zone, row.workload_class, times(row.predicted),
               known ? times(row.measured) + (row.estimated ? " (estimate)" : "") : "-",
               known ? fmt::format("{:.2f} to {:.2f}", row.low, row.high) : "-", std::to_string(row.comparisons),
               std::to_string(row.failures)});
    if (known && row.low > 1) table.paint_last(4, true);
    if (known && row.high < 1) table.paint_last(4, false);
  }
  return table.text(paint);
}

std::string live_table(const LiveState& state, const Paint& paint) {
  constexpr std::size_t kLabel = 9;
  const std::size_t room = state.width > kLabel ? state.width - kLabel : 1;
  const auto row = [&](const char* label, const std::string& text) {
    return paint.faint(fmt::format("{:<9}", label)) + text + "\n";
  };
  const auto plain = [&](std::string text) { return clipped(std::move(text), room); };

  const bool has_best = state.best_speedup > 0;
  const bool estimated = !state.estimated_on.empty();
  std::string best = plain(!has_best   ? "nothing has passed yet"
                           : estimated ? fmt::format("{} over {} (estimate on {}), individual {}", times(state.best_speedup),
                                                     state.reference, state.estimated_on, state.best_index)
                                       : fmt::format("{} eager ({:.2f} to {:.2f}), individual {}", times(state.best_speedup),
                                                     state.interval.low, state.interval.high, state.best_index));
  if (has_best && !estimated && state.interval.low > 1) {
    const auto end = std::min(best.find(' '), best.size());
    best = paint.good(best.substr(0, end)) + best.substr(end);
  }
  const int filled = std::clamp(static_cast<int>(std::lround(state.share_of_ceiling * 20)), 0, 20);
  std::vector<std::string> failures;
  for (const auto& [verdict, count] : state.failures)
    if (count > 0) failures.push_back(fmt::format("{} {}", count, verdict));
  const std::string left = left_text(state);

  std::string text = paint.strong(clipped(fmt::format("{}  {}  {}{}", state.problem, state.search, state.phase,
                                                      state.doing.empty() ? "" : ": " + state.doing),
                                          state.width)) +
                     "\n";
  text += row("best", best);
  text += row("ceiling", plain(fmt::format("[{}{}] {:.0f}%", std::string(static_cast<std::size_t>(filled), '#'),
                                           std::string(static_cast<std::size_t>(20 - filled), '.'), state.share_of_ceiling * 100)));
  text += row("by", plain(state.strategies.empty() ? "-" : fmt::format("{}", fmt::join(state.strategies, ", "))));
  text += row("tried", plain(fmt::format("{}, {:.1f} a minute, {} passed", state.evaluations, per_minute(state),
                                         state.evaluations - failed_in(state))));
  text += row("failed", plain(failures.empty() ? "none" : fmt::format("{}", fmt::join(failures, ", "))));
  text += row("time", plain(human_duration(state.elapsed_seconds) + (left.empty() ? "" : ", " + left)));
  return text;
}

std::string live_line(const LiveState& state) {
  std::string text = fmt::format("{}: ", state.phase.empty() ? state.search : state.phase);
  if (state.best_speedup <= 0)
    text += "nothing has passed yet";
  else if (!state.estimated_on.empty())
    text += fmt::format("best {} over {} (estimate on {}), {:.0f}% of the roofline", times(state.best_speedup), state.reference,
                        state.estimated_on, state.share_of_ceiling * 100);
  else
    text += fmt::format("best {} ({:.2f} to {:.2f}), {:.0f}% of the ceiling", times(state.best_speedup), state.interval.low,
                        state.interval.high, state.share_of_ceiling * 100);
  text += fmt::format(", {} tried ({:.1f} a minute), {} failed", state.evaluations, per_minute(state), failed_in(state));
  if (const std::string left = left_text(state); !left.empty()) text += ", " + left;
  return text;
}

}  // namespace kw
