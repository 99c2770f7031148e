#include "export/evidence.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/hash.h"
#include "base/shell.h"
#include "base/version.h"
#include "dsl/cpp.h"
#include "record/standing.h"

namespace kw {
namespace {

std::string command(const char* verb, const ExportSubject& subject, const EvidencePlaces& places) {
  std::string text = fmt::format("kernelwright {} {} {}", verb, shell_word(places.problem), shell_word(places.kernel));
  if (subject.run.options.precision != "float32") text += " --precision " + subject.run.options.precision;
  if (subject.run.options.threads > 0) text += fmt::format(" --threads {}", subject.run.options.threads);
  return text;
}

// The blocks' ratios are for plots.
Json comparison_json(const Comparison& comparison) {
  Json json = comparison;
  json.erase("ratios");
  return json;
}

Json timing_json(const ExportSubject& subject) {
  Json comparisons = Json::array();
  for (const Comparison& each : subject.comparisons()) comparisons.push_back(comparison_json(each));
  Json json{{"comparisons", comparisons},
            {"confirmed", subject.is_confirmed()},
            {"against_pytorch", standing_json(subject.is_confirmed() ? subject.run.confirmed : std::nullopt)},
            {"seconds", subject.is_confirmed() ? subject.run.confirmed->seconds : subject.individual.seconds},
            {"threads", subject.run.options.threads}};
  if (subject.is_confirmed()) {
    const TimingRecord& timing = *subject.run.confirmed;
    json["threads"] = timing.threads;
    json["prepare_seconds"] = timing.prepare_seconds;
    json["prepare_bytes"] = timing.prepare_bytes;
    json["share_of_ceiling"] = timing.share_of_ceiling;
    json["zone"] = timing.zone;
    json["notes"] = timing.notes;
  }
  return json;
}

Json verdict_json(const ExportSubject& subject) {
  if (!subject.evaluation) return {{"verdict", name_of(subject.individual.verdict)}};
  return subject.evaluation->verdict;
}

Json versions_json(const ExportSubject& subject) {
  Json json{{"kernelwright", kVersion}, {"torch", subject.run.torch_version}};
  if (subject.evaluation) {
    json["compiler"] = subject.evaluation->key.compiler;
    json["flags"] = subject.evaluation->key.flags;
    json["evaluator"] = subject.evaluation->key.evaluator_version;
  } else {
    json["flags"] = fmt::format("{}", fmt::join(cpp_flags(), " "));
  }
  return json;
}

std::string baseline_name(const std::string& baseline) { return baseline == "compile" ? "`torch.compile`" : baseline; }

std::string row(const std::string& what, const std::string& text) { return fmt::format("| {} | {} |\n", what, text); }

std::string verdict_rows(const ExportSubject& subject) {
  if (!subject.evaluation)
    return row("verdict", fmt::format("{}, precision {}", name_of(subject.individual.verdict), subject.run.options.precision));
  const VerdictRecord& verdict = subject.evaluation->verdict;
  const auto passed = std::ranges::count_if(verdict.checks, [](const CheckResult& check) { return check.passed; });
  std::string text = row("verdict", fmt::format("{}, {} of {} checks, precision {}", name_of(verdict.verdict), passed,
                                                verdict.checks.size(), verdict.precision));
  const OutputError* worst = nullptr;
  for (const CheckResult& check : verdict.checks)
    for (const OutputError& error : check.outputs)
      if (!worst || error.worst_of_tolerance > worst->worst_of_tolerance) worst = &error;
  if (worst)
    text += row("largest error", fmt::format("{:.2e} against float64, eager's own {:.2e}: {:.0f}% of the tolerance",
                                             worst->max_error, worst->max_error_eager, worst->worst_of_tolerance * 100));
  return text;
}

}  // namespace

Json evidence_json(const ExportSubject& subject, const EvidencePlaces& places) {
  std::vector<std::string> strategies = subject.individual.real_strategies();
  Json machine;
  if (subject.machine)
    machine = {{"cpu", subject.machine->cpu_model}, {"cores", subject.machine->cores}, {"isas", subject.machine->isas}};
  return {{"problem", {{"name", subject.run.problem_name}, {"sha256", subject.run.problem_hash}}},
          {"kernel",
           {{"run", subject.run.id},
            {"index", subject.individual.index},
            {"author", subject.individual.kernel.author},
            {"knobs", subject.individual.proposal.knobs},
            {"strategies", strategies},
            {"sha256", sha256(subject.kernel_text)}}},
          {"precision", subject.run.options.precision},
          {"verdict", verdict_json(subject)},
          {"timing", timing_json(subject)},
          {"machine", machine},
          {"versions", versions_json(subject)},
          {"notes", subject.problem.notes},
          {"repeat", {command("verify", subject, places), command("measure", subject, places)}}};
}

std::string evidence_table(const ExportSubject& subject, const EvidencePlaces& places) {
  std::string text = "| evidence | |\n|---|---|\n";
  text += row("beside PyTorch", subject.is_confirmed() ? standing_words(subject.run.confirmed) : "not confirmed");
  for (const Comparison& each : subject.comparisons())
    text += row(
        "over " + baseline_name(each.baseline),
        fmt::format("**{:.2f}x** ({:.2f} to {:.2f}, 95%): {:.3g} ms a call against {:.3g} ms{}", each.speedup, each.interval.low,
                    each.interval.high, each.candidate_seconds * 1e3, each.baseline_seconds * 1e3,
                    subject.is_confirmed() ? ", confirmed with fresh inputs" : ", not confirmed: a brief timing of the search"));
  text += verdict_rows(subject);
  if (subject.machine)
    text += row("measured on", fmt::format("{}, {} threads", subject.machine->cpu_model,
                                           subject.is_confirmed() ? subject.run.confirmed->threads : subject.machine->cores));
  text += row("versions", fmt::format("PyTorch {}{}", subject.run.torch_version,
                                      subject.evaluation ? ", " + subject.evaluation->key.compiler : ""));
  text += row("repeat it", fmt::format("`{}`", command("measure", subject, places)));
  return text;
}

std::string tensor_table(const ProblemDescription& problem) {
  std::string text = "| | name | type | shape | strides |\n|---|---|---|---|---|\n";
  for (const TensorSpec* spec : problem.arguments()) {
    const char* role = spec->kind == TensorKind::output                                      ? "output"
                       : spec->kind == TensorKind::input || spec->kind == TensorKind::scalar ? "input"
                                                                                             : "weight";
    text += fmt::format("| {} | `{}` | {} | {} | {} |\n", role, spec->name, torch_name(spec->dtype),
                        spec->kind == TensorKind::scalar ? "a number" : fmt::format("[{}]", fmt::join(spec->shape, ", ")),
                        spec->kind == TensorKind::scalar ? "" : fmt::format("({})", fmt::join(spec->strides, ", ")));
  }
  return text;
}

std::string notes_section(const ExportSubject& subject) {
  std::vector<std::string> notes = subject.problem.notes;
  if (!subject.problem.sensitivity.telling) notes.push_back(subject.problem.sensitivity.note);
  if (notes.empty()) return "";
  std::string text = "## To know\n";
  for (const std::string& note : notes) text += fmt::format("- {}\n", note);
  return text + "\n";
}

std::string title_of(const ExportSubject& subject) {
  const std::string& text = subject.problem_text;
  if (!text.starts_with("\"\"\"")) return subject.run.problem_name;
  std::string title = text.substr(3, text.find_first_of("\"\n.", 3) - 3);
  std::erase_if(title, [](char c) { return c == '\\' || c == '@' || c == '`' || static_cast<unsigned char>(c) < ' '; });
  return title.empty() ? subject.run.problem_name : title;
}

}  // namespace kw
