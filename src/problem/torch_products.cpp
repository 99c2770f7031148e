#include "problem/torch_products.h"

#include <sstream>

#include <fmt/format.h>

#include "base/subprocess.h"
#include "problem/problem_source.h"

namespace kw {
namespace {

constexpr const char* kTypes[kTorchTypes] = {"float32", "bfloat16", "float16"};

// From all that the processor advertises down to what every processor of the last ten years runs.
constexpr const char* kLimits[] = {"", "AVX512_CORE_FP16", "AVX512_CORE_BF16", "AVX512_CORE", "AVX2"};

struct Trial {
  std::vector<std::string> running;
  int signal = 0;
};

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

Result<Trial> try_under(const std::string& python, const std::string& limit) {
  KW_TRY(const fs::path root, install_root());
  Command command;
  command.argv = {python, "-m", "kw_oracle.products"};
  command.environment = {{"PYTHONPATH", (root / "oracle").string()},
                         {"PYTHONSAFEPATH", "1"},
                         {"PYTHONDONTWRITEBYTECODE", "1"},
                         {kOneDnnVariable, limit}};
  command.deadline = std::chrono::minutes(2);
  KW_TRY(const CommandOutcome outcome, run_command(command));
  Trial trial;
  std::istringstream lines(outcome.out);
  for (std::string type; std::getline(lines, type);) trial.running.push_back(type);
  trial.signal = outcome.signal;
  if (!outcome.succeeded() && outcome.signal == 0)
    return bad_input(fmt::format("PyTorch's products cannot be tried: {}",
                                 outcome.timed_out ? "no answer in two minutes" : last_line(outcome.err)),
                     "run tools/setup, or set KERNELWRIGHT_PYTHON to a Python that has PyTorch");
  return trial;
}

}  // namespace

Result<OneDnnRecord> torch_products(bool anew) {
  KW_TRY(const std::string python, oracle_python());
  const std::string version = torch_version_on_disk(python);
  if (const auto kept = onednn_record(); kept && !anew && kept->torch == version) return *kept;
  OneDnnRecord best{version, "", {}, ""};
  const char* chosen = std::getenv(kOneDnnVariable);
  const bool is_users = chosen != nullptr && *chosen != '\0';
  for (const char* limit : kLimits) {
    KW_TRY(const Trial trial, try_under(python, is_users ? chosen : limit));
    if (*limit == '\0' && trial.signal != 0 && trial.running.size() < kTorchTypes)
      best.died_of = fmt::format("{} in {}", signal_name(trial.signal), kTypes[trial.running.size()]);
    if (trial.running.size() > best.running.size()) {
      best.running = trial.running;
      best.limit = limit;
    }
    if (best.running.size() == kTorchTypes || is_users) break;
  }
  if (!is_users) KW_CHECK(keep_onednn_record(best));
  return best;
}

std::string why_onednn_is_held(const OneDnnRecord& record) {
  if (record.limit.empty()) return "";
  return fmt::format("PyTorch dies of {} here: its oneDNN is held to {}={}, with which it runs", record.died_of, kOneDnnVariable,
                     record.limit);
}

}  // namespace kw
