#include "search/conditions.h"

#include <unistd.h>
#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/onednn_limit.h"
#include "base/timing_environment.h"

namespace kw {
namespace {

constexpr std::string_view kTellingPrefixes[] = {"OMP_",     "GOMP_",          "KMP_",      "MKL_",       "ONEDNN_",
                                                 "DNNL_",    "ATEN_",          "OPENBLAS_", "TORCH_",     "TORCHDYNAMO_",
                                                 "PYTORCH_", "TORCHINDUCTOR_", "MALLOC_",   "LD_PRELOAD", "GLIBC_TUNABLES"};
// Where something is kept, or said, decides no outcome.
constexpr std::string_view kPlaceSuffixes[] = {"_DIR", "_HOME", "_LOGS"};

bool is_telling(std::string_view name) {
  const auto begins = [&](std::string_view prefix) { return name.starts_with(prefix); };
  const auto ends = [&](std::string_view suffix) { return name.ends_with(suffix); };
  return std::any_of(std::begin(kTellingPrefixes), std::end(kTellingPrefixes), begins) &&
         std::none_of(std::begin(kPlaceSuffixes), std::end(kPlaceSuffixes), ends);
}

bool is_precise(const Comparison& comparison, const EvaluatorOptions& options) {
  return comparison.pairs >= options.least_pairs &&
         (comparison.interval.high - comparison.interval.low) / 2 <= options.good_enough * comparison.speedup;
}

}  // namespace

KnobValues telling_settings(const char* const* environment) {
  KnobValues settings;
  for (; *environment != nullptr; ++environment) {
    const std::string_view setting = *environment;
    const std::size_t equals = setting.find('=');
    if (equals != std::string_view::npos && is_telling(setting.substr(0, equals)))
      settings.emplace(setting.substr(0, equals), setting.substr(equals + 1));
  }
  settings.erase("OMP_NUM_THREADS");  // always the evaluation's own number of threads
  for (const auto& [name, value] : timing_environment()) settings.erase(name);
  if (const std::string limit = onednn_limit(); !limit.empty()) settings[kOneDnnVariable] = limit;
  return settings;
}

Result<KnobValues> conditions_of(const EvaluatorOptions& options, const Machine& machine, bool on_gpu) {
  KnobValues conditions = telling_settings(environ);
  if (options.call_timeout) conditions["seconds of a call"] = fmt::format("{}", *options.call_timeout);
  conditions["seconds of the compiler"] = fmt::format("{}", options.compile_timeout);
  // Verdicts of timings hang on them: nothing is faster than what was measured.
  conditions["ceilings"] = sha256(Json(machine).dump());
  if (on_gpu && options.gpu.ends_with(".json")) {  // others are part of the program
    KW_TRY(const std::string sheet, read_file(options.gpu));
    conditions["data sheet"] = sha256(sheet);
  }
  return conditions;
}

bool still_holds(const VerdictRecord& verdict, const EvaluatorOptions& options) {
  if (verdict.verdict == Verdict::timed_out || verdict.verdict == Verdict::out_of_memory) return false;
  if (verdict.verdict != Verdict::passed) return true;
  // Inputs that somebody chose prove less than inputs that were drawn after the kernel was compiled.
  return verdict.chosen_seed == 0 && (verdict.gpu_budget_seconds == 0 || verdict.gpu_budget_seconds >= options.gpu_seconds);
}

bool still_holds(const TimingRecord& timing, const EvaluatorOptions& options) {
  const auto holds = [&](std::string_view baseline) {
    return std::any_of(timing.comparisons.begin(), timing.comparisons.end(), [&](const Comparison& comparison) {
      return comparison.baseline == baseline &&
             (timing.budget_seconds >= options.seconds_per_baseline || is_precise(comparison, options));
    });
  };
  return (!options.eager || holds("eager")) && (!options.compile || holds("compile"));
}

}  // namespace kw
