// Runs the cases of tests/redteam or tests/honest through the real evaluator, in one process with one oracle:
//   judge_cases FOLDER [--repeat N] [--only TEXT] [--shard I/N] [--cuda|--opencl|--python] [--slow] [--verbose]
// Each case must get one of the verdicts that it expects. Kernels in CUDA are cases only with --cuda, and only where there is an
// nvcc; those in OpenCL C only with --opencl, and only where there is a device; Python files only with --python, and those in a DSL
// whose package is not installed are left out, with a word about it.
#include <cstdio>
#include <cstdlib>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dsl/opencl.h"
#include "search/evaluator.h"
#include "vgpu/toolkit.h"

namespace {

using namespace kw;

struct Case {
  std::string kernel, problem, command, never_says;
  std::vector<std::string> expect;
  bool slow = false, allow_torch = false;
};

Result<std::vector<Case>> read_cases(const fs::path& folder) {
  KW_TRY(const std::string text, read_file(folder / "cases.json"));
  KW_TRY(const Json json, parse_json(text, (folder / "cases.json").string()));
  return read_fields("cases.json", [&] {
    std::vector<Case> cases;
    for (const auto& row : json)
      cases.push_back({row.at("kernel"), row.at("problem"), row.at("command"), row.value("never_says", ""), row.at("expect"),
                       row.value("slow", false), row.value("allow_torch", false)});
    return cases;
  });
}

// Runs one case; what is wrong with its outcome, or nothing.
std::string run_case(Evaluator& evaluator, const fs::path& folder, const Case& one, bool verbose) {
  auto problem = evaluator.problem(folder.parent_path() / "problems" / one.problem);
  if (!problem) return "problem: " + problem.error().message;
  auto candidate = Candidate::read(folder / one.kernel, {});
  if (!candidate) return "kernel: " + candidate.error().message;
  evaluator.allow_torch(one.allow_torch);
  auto evaluated = one.command == "measure" ? evaluator.measure(*problem, *candidate, "kernelwright measure")
                                            : evaluator.verify(*problem, *candidate, "kernelwright verify");
  if (!evaluated) return "evaluator: " + evaluated.error().message;
  const auto& verdict = evaluated->evaluation.verdict;
  const std::string name(name_of(verdict.verdict));
  const std::string told = fmt::format("{}: {} | {} | {} | {}", name, verdict.diagnosis.summary, verdict.diagnosis.place,
                                       fmt::join(verdict.diagnosis.evidence, "; "), verdict.diagnosis.hint);
  if (verbose) fmt::print("{:<34} {:<8} {}\n", one.kernel, one.command, told);
  if (std::find(one.expect.begin(), one.expect.end(), name) == one.expect.end())
    return fmt::format("{} where {} was expected: {}", name, one.expect, told);
  if (!one.never_says.empty() && Json(evaluated->evaluation.verdict).dump().find(one.never_says) != std::string::npos)
    return fmt::format("the answer says '{}'", one.never_says);
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2)
    return std::fputs(
               "usage: judge_cases FOLDER [--repeat N] [--only TEXT] [--shard I/N] [--cuda|--opencl|--python] [--slow] "
               "[--verbose]\n",
               stderr),
           2;
  const fs::path folder = argv[1];
  int repeat = 1, shard = 0, shards = 1;
  bool verbose = false, cuda = false, opencl = false, python = false, slow = false;
  std::string only;
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--repeat" && i + 1 < argc)
      repeat = std::atoi(argv[++i]);
    else if (word == "--only" && i + 1 < argc)
      only = argv[++i];
    else if (word == "--shard" && i + 1 < argc)
      std::sscanf(argv[++i], "%d/%d", &shard, &shards);
    else if (word == "--verbose")
      verbose = true;
    else if (word == "--cuda")
      cuda = true;
    else if (word == "--opencl")
      opencl = true;
    else if (word == "--python")
      python = true;
    else if (word == "--slow")
      slow = true;
  }
  if (cuda && !vgpu::find_nvcc()) return fmt::print("there is no nvcc here: nothing to judge\n"), 0;
  if (opencl && !opencl_compiler_version()) return fmt::print("there is no OpenCL device here: nothing to judge\n"), 0;
  const std::string extension = cuda ? ".cu" : opencl ? ".cl" : python ? ".py" : ".cpp";
  auto cases = read_cases(folder);
  if (!cases) return fmt::print(stderr, "{}\n", cases.error().message), 2;
  auto home = TempFolder::make("kw-cases");
  if (!home) return fmt::print(stderr, "{}\n", home.error().message), 2;
  ::setenv("KERNELWRIGHT_HOME", home->path().c_str(), 1);
  EvaluatorOptions options;
  options.again = true;
  options.call_timeout = cuda || python ? 60 : 3;  // a virtual GPU is slow
  options.compile_timeout = cuda || python ? 120 : 20;
  options.gpu_seconds = 5;
  options.compile = false;
  options.seconds_per_baseline = 2;
  auto evaluator = Evaluator::open(options);
  if (!evaluator) return fmt::print(stderr, "{}\n", evaluator.error().message), 3;

  int passed = 0, failed = 0, left_out = 0;
  for (int round = 0; round < repeat; ++round) {
    for (std::size_t i = 0; i < cases->size(); ++i) {
      const Case& one = (*cases)[i];
      if (static_cast<int>(i) % shards != shard || one.kernel.find(only) == std::string::npos) continue;
      if (!one.kernel.ends_with(extension) || (one.slow && !slow)) continue;
      if (python) {
        const auto candidate = Candidate::read(folder / one.kernel, {});
        const auto version = candidate ? candidate->dsl().compiler_version() : Result<std::string>(std::string());
        if (!version) {
          ++left_out, fmt::print("left out {}: {}\n", one.kernel, version.error().message);
          continue;
        }
      }
      const std::string problem = run_case(**evaluator, folder, one, verbose);
      if (problem.empty())
        ++passed;
      else
        ++failed, fmt::print("FAILED {} ({} on {}): {}\n", one.kernel, one.command, one.problem, problem);
      std::fflush(stdout);
    }
  }
  fmt::print("{} passed, {} failed\n", passed, failed);
  return failed == 0 && passed + left_out > 0 ? 0 : 1;
}
