// The commands, each a function from its options to an exit status or an Error.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/output.h"

namespace kw {

inline constexpr int kPassed = 0;
inline constexpr int kNotPassed = 1;
inline constexpr int kBadInput = 2;
inline constexpr int kFailed = 3;

struct DoctorOptions {
  bool refresh = false;
};
Result<int> run_doctor(const DoctorOptions& options, Output& output);

struct DescribeOptions {
  std::string problem;
  int threads = 0;
};
Result<int> run_describe(const DescribeOptions& options, Output& output);

// Shared by verify and measure.
struct JudgeOptions {
  std::string problem;
  std::string kernel;
  std::vector<std::string> knobs;  // NAME=VALUE
  std::string dsl;                 // empty: by the kernel's file
  std::string machine;             // the GPU that a kernel in CUDA is for; empty: the usual one
  std::string precision = "float32";
  int threads = 0;
  std::optional<std::uint64_t> seed;
  std::optional<double> timeout;
  double compile_timeout = 120;
  bool again = false;
  bool fresh = false;
  bool allow_torch = false;  // of a file with ModelNew: PyTorch's operators may do the work
  bool unsafe_no_sandbox = false;
  // measure only
  std::string against;  // another kernel's file
  std::vector<std::string> baselines{"eager", "compile"};
  double time = 8;  // seconds per baseline, at the most
};
Result<int> run_verify(const JudgeOptions& options, Output& output);
Result<int> run_measure(const JudgeOptions& options, Output& output);

// Which model takes part, and how much it may use.
struct ModelChoice {
  std::string model, base_url, protocol;
  double max_usd = 0;           // 0: no limit
  std::int64_t max_tokens = 0;  // 0: no limit
  std::string record, replay;   // files
  [[nodiscard]] bool given() const { return !model.empty() || !replay.empty(); }
};

struct OptimizeOptions {
  std::string problem;
  std::string dsl = "cpp";
  std::string machine;  // the GPU that kernels in CUDA are for; empty: the usual one
  std::string search = "evolve";
  std::string time;     // as it was written; empty: not given
  int evaluations = 0;  // 0: not given
  std::uint64_t seed = 0;
  int islands = 1;
  std::string out;
  std::string resume;
  std::string precision = "float32";
  std::vector<std::string> baselines{"eager", "compile"};  // that the winner is confirmed against
  int threads = 0;
  bool require_win = false;  // a kernel that is not clearly faster than PyTorch ends with status 1
  bool unsafe_no_sandbox = false;
  ModelChoice model;
};
Result<int> run_optimize(const OptimizeOptions& options, Output& output);

// A search on each problem of a folder.
struct BenchOptions {
  std::string folder;
  std::string out;  // a folder; empty: NAME-bench here
  std::string search = "evolve";
  std::string time;     // a problem's budget, as it was written; empty: not given
  int evaluations = 0;  // 0: not given
  std::uint64_t seed = 1;
  std::string precision = "float32";
  std::vector<std::string> baselines{"eager", "compile"};
  int threads = 0;
  std::vector<std::string> only, scale_to;
  bool again = false;
  bool require_win = false;  // the same for every problem
  bool unsafe_no_sandbox = false;
};
Result<int> run_bench(const BenchOptions& options, Output& output);

struct RunsOptions {
  int limit = 20;
  bool parts = false;                // searches on sub-problems, too
  std::vector<std::string> deleted;  // take these out instead
  bool yes = false;                  // without asking
};
Result<int> run_runs(const RunsOptions& options, Output& output);
Result<int> delete_runs(const RunsOptions& options, Output& output);

struct CacheOptions {
  std::optional<std::string> limit;  // "4GB"; none: as it is
  bool clear = false;                // everything that nobody uses
};
Result<int> run_cache(const CacheOptions& options, Output& output);

struct ShowOptions {
  std::string run;
  std::optional<std::int64_t> kernel;  // print this individual's source
  bool prompts = false;                // show the exchanges with the model
  std::string prompt;                  // print this one in full; no number: list them
};
Result<int> run_show(const ShowOptions& options, Output& output);

// One kernel by a model: written, or repaired.
struct AgentOptions {
  std::string problem;
  std::string kernel;  // repair only
  std::string dsl;     // empty: cpp, or as the kernel's file says
  std::string machine;
  std::vector<std::string> strategies;
  std::string out;
  std::string precision = "float32";
  int threads = 0;
  double compile_timeout = 120;
  int attempts = 6;
  std::uint64_t seed = 0;
  bool unsafe_no_sandbox = false;
  ModelChoice model;
};
Result<int> run_generate(const AgentOptions& options, Output& output);
Result<int> run_repair(const AgentOptions& options, Output& output);

// A kernel in another DSL.
struct MigrateOptions {
  std::string problem, kernel;
  std::string from, to;  // from: empty: by the kernel's file
  std::string machine;
  std::string out;
  std::string precision = "float32";
  int threads = 0;
  int attempts = 6;
  bool unsafe_no_sandbox = false;
  ModelChoice model;
};
Result<int> run_migrate(const MigrateOptions& options, Output& output);

struct LedgerOptions {
  std::string zone, workload_class;  // only these; empty: all
};
Result<int> run_ledger(const LedgerOptions& options, Output& output);

struct ModelCommandOptions {
  std::string action;  // fetch, serve, test
  std::string model = "local", base_url, protocol;
  int port = 0;     // 0: any that is free
  int threads = 0;  // 0: one fewer than the cores
};
Result<int> run_model(const ModelCommandOptions& options, Output& output);

// vgpu run and vgpu profile.
struct VgpuOptions {
  std::vector<std::string> words;  // the source and the program's arguments
  std::string gpu = "a100";
  bool checks = true;
  bool profile = false;
  int threads = 0;
  int lines = 20;                         // of the source, in a profile
  double deadline = 0;                    // seconds of one launch; 0: none
  std::vector<std::string> nvcc_options;  // added to the compiler's
};
Result<int> run_vgpu(const VgpuOptions& options, Output& output);

}  // namespace kw
