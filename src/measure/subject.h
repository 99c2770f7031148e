// What can be timed in blocks of calls: a kernel in the sandbox, or the oracle's module.
#pragma once

#include <functional>
#include <memory>
#include <random>
#include <span>

#include "dsl/candidate.h"
#include "dsl/session_tensors.h"
#include "problem/oracle_client.h"

namespace kw {

// The seconds of each timed call, or how the kernel failed.
using Block = Answered<std::vector<double>>;

class Subject {
 public:
  virtual ~Subject() = default;
  // Calls once per entry of `order` (which set of inputs), the first `warmup` of them untimed.
  virtual Result<Block> block(std::span<const int> order, int warmup) = 0;
};

// The machine's own GPU, where a timing is of it.
struct GpuTiming {
  vgpu::PresentGpu gpu;
  vgpu::GpuSheet figures;  // its published or stated rates
  std::string precision = "float32";
};

// The inputs that a timing rotates over. They share their weights.
struct TimingSets {
  std::vector<TensorSet> sets;
  int outputs_alive = 2;  // how many calls' outputs stay alive, on both sides
};

// What a real GPU said of an order, as the kernel's failure; nothing where all went well.
std::optional<RunFailure> failure_on_gpu(const std::optional<GpuReport>& report, const std::string& stage);

// Compares what stands in an out slot with the set's reference; nothing when it is right.
using OutputCheck = std::function<Result<std::optional<RunFailure>>(Session&, const TensorSet&, int out_slot)>;

// Each block is a process of its own, so that nothing learnt in one block helps in the next; within a block every call sees
// other inputs, which are in no reach of the process before. In blocks picked at random all outputs that are still there are
// checked.
class KernelSubject : public Subject {
 public:
  static Result<std::unique_ptr<KernelSubject>> make(const CompiledKernel& kernel, const ProblemDescription& problem,
                                                     const TimingSets& sets, SessionOptions options,
                                                     std::chrono::milliseconds deadline, OutputCheck check);
  Result<Block> block(std::span<const int> order, int warmup) override;

  // For each block, the share of a call's outside time that the runner's own clock did not account for, beyond what an order takes
  // without a call. A kernel that bends the inside clock, or computes before it starts, cannot make it small. Of a GPU: the share
  // of time that it worked on when the stream was done.
  [[nodiscard]] const std::vector<double>& unaccounted_shares() const { return unaccounted_shares_; }
  [[nodiscard]] const std::vector<PrepareReport>& prepares() const { return prepares_; }
  [[nodiscard]] int checked_calls() const { return checked_calls_; }

 private:
  KernelSubject(Session session, const TimingSets& sets, int out_slots, std::chrono::milliseconds deadline, OutputCheck check);
  Session session_;
  const TimingSets& sets_;
  int out_slots_;
  std::chrono::milliseconds deadline_;
  OutputCheck check_;
  bool on_gpu_ = false;
  double between_ = 0;  // seconds that an order may take beyond a rehearsed one and its call
  std::mt19937_64 random_{std::random_device{}()};
  std::vector<double> unaccounted_shares_;
  std::vector<PrepareReport> prepares_;
  int blocks_ = 0;
  int checked_calls_ = 0;
};

// PyTorch itself, eager or compiled.
class OracleSubject : public Subject {
 public:
  static Result<std::unique_ptr<OracleSubject>> make(OracleClient& oracle, const std::string& problem_file, const TimingSets& sets,
                                                     const std::string& mode, int threads,
                                                     const std::optional<GpuTiming>& gpu = {});
  ~OracleSubject() override;
  Result<Block> block(std::span<const int> order, int warmup) override;

 private:
  OracleSubject(OracleClient& oracle, Json load) : oracle_(oracle), load_(std::move(load)) {}
  Status load();
  OracleClient& oracle_;
  Json load_;  // the request that loads it, for an oracle that was restarted
  std::int64_t handle_ = -1;
  int generation_ = -1;
};

}  // namespace kw
