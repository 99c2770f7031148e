#include "search/begin_run.h"

#include <random>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw {

std::string shape_words(const ProblemDescription& problem) {
  constexpr std::size_t kMost = 12;
  std::vector<std::string> words;
  for (const TensorSpec* tensor : problem.arguments()) {
    if (words.size() < kMost) words.push_back(fmt::format("{}[{}]", torch_name(tensor->dtype), fmt::join(tensor->shape, ",")));
  }
  if (const std::size_t all = problem.arguments().size(); all > kMost) words.push_back(fmt::format("and {} more", all - kMost));
  return fmt::format("{}", fmt::join(words, " "));
}

Result<RunRecord> begin_run(const RunRequest& request, Archive& archive) {
  if (request.resume.empty()) {
    RunRecord run;
    run.options = request.options;
    if (request.model != nullptr) run.options.model = request.model->name();
    if (run.options.seed == 0) run.options.seed = std::random_device{}() % 1'000'000'000 + 1;
    run.problem_file = fs::absolute(request.problem_file).string();
    return run;
  }
  KW_TRY(auto found, archive.runs().find(request.resume));
  if (!found) return bad_input(fmt::format("there is no run {}", request.resume), "kernelwright runs lists them");
  if (!fs::exists(found->problem_file))
    return bad_input(fmt::format("{}, the problem of run {}, is not there any more", found->problem_file, found->id),
                     "put it back, or start a new run");
  if (found->options.model.empty() != (request.model == nullptr))
    return bad_input(found->options.model.empty() ? fmt::format("run {} works without a model", found->id)
                                                  : fmt::format("run {} works with the model {}", found->id, found->options.model),
                     "resume it as it began, or start a new run");
  if (request.model != nullptr) found->options.model = request.model->name();
  if (request.more_time) {
    found->options.seconds = request.options.seconds > 0 ? found->elapsed_seconds + request.options.seconds : 0;
    found->options.evaluations = request.options.evaluations;
  }
  return std::move(*found);
}

Status choose_gpu(RunRecord& run, Evaluator& evaluator, std::vector<std::string>& notes) {
  KW_TRY(GpuPlace place, gpu_place(run.options.machine, run.options.dsl));
  const std::string name = place.device ? place.device->name : "";
  if (run.id.empty()) run.options.timed_on = name;
  if (run.options.timed_on.empty()) {
    place.device.reset();
  } else if (run.options.timed_on != name) {
    return bad_input(fmt::format("run {} was timed on {}, which is not here", run.id, run.options.timed_on),
                     "resume it where that GPU is, or start a new run");
  }
  if (!place.note.empty()) notes.push_back(place.note);
  evaluator.use_gpu(place);
  return {};
}

Error before_the_search(Error error, const RunRecord& run, const std::string& doing) {
  if (error.kind != ErrorKind::stopped) return error;
  return {ErrorKind::stopped, fmt::format("{} before the search began{}", error.message, doing.empty() ? "" : " (" + doing + ")"),
          run.id.empty() ? "give it more --time" : fmt::format("kernelwright optimize --resume {} --time 3m", run.id)};
}

}  // namespace kw
