// One runner process as the evaluator drives it: puts tensors where the kernel will find them, has calls made, takes the
// outputs out of the stopped process. It reports what happened and leaves judging values to others.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>

#include "dsl/kernel.h"
#include "record/problem.h"
#include "record/verdict.h"
#include "sandbox/sandbox.h"

namespace kw {

enum class Placement {
  tail,  // buffers end at a guard: reading or writing past the end faults
  head,  // buffers begin at a guard
};

// The virtual GPU of a session, for kernels in CUDA.
struct SessionGpu {
  GpuBuild build;
  bool checks = true;
  bool counters = false;
  double launch_seconds = 0;  // that a launch may take; 0: no limit of its own
  double sample_seconds = 0;  // after which a launch begins no further block; 0: all blocks run
  std::uint64_t seed = 0;  // of what no GPU promises: what unwritten memory holds, where blocks run, which of them a sample takes
};

// The machine's own GPU for a session that times: the kernel's object is then the one that was linked for it.
struct SessionDevice {
  vgpu::PresentGpu gpu;
  std::uint64_t flush_bytes = 0;  // written before each call
};

struct SessionOptions {
  sandbox::Mode mode = sandbox::Mode::bubblewrap;
  int threads = 1;
  std::vector<int> cores;  // empty: not pinned
  Placement placement = Placement::tail;
  int slots = 1;  // sets of inputs to call on; the process has one at a time, from the call on it
  int out_slots = 1;
  bool shared_weights = true;            // contents may change between calls; otherwise they are copied once, at launch
  int rehearsals = 0;                    // orders before the kernel is loaded that tell what an order takes without a call
  std::uint64_t extra_memory_bytes = 0;  // beside the buffers; 0: 1 GiB, or four times the buffers where that is more
  bool passive_waits = false;            // idle OpenMP threads sleep at once, so that whatever still runs stands out
  std::optional<SessionGpu> gpu;
  std::optional<SessionDevice> device;
  std::optional<PythonBuild> python;  // set by create, from the kernel; a file with ModelNew: another process than the runner,
                                      // which speaks the same protocol
  bool debug = false;                 // under AddressSanitizer, without the call filter, for diagnoses only
};

// Why a call did not come back as it should.
struct RunFailure {
  Verdict verdict = Verdict::crashed;
  Diagnosis diagnosis;
  std::optional<std::uint64_t> program_counter;  // offset into the object, for a line number
  std::string errors;                            // the process's standard error, capped
};

// A value or the kernel's failure; errors of our own are Results around it.
template <typename T>
struct Answered {
  std::optional<T> value;
  RunFailure failure;
  [[nodiscard]] bool ok() const { return value.has_value(); }
};

// What the virtual GPU saw of a call.
struct GpuReport {
  int error = 0;  // a cudaError_t
  std::string error_name;
  std::vector<std::uint64_t> unwritten;  // bytes of each output that nothing wrote; only with checks
  std::uint64_t to_host = 0, to_device = 0, host_allocations = 0;
  std::string lines;  // JSON lines about launches and findings
};

// Of the weights that a ModelNew makes itself: their seed, and whether values are drawn in place of what it sets to constants.
struct OwnWeights {
  std::uint64_t seed = 0;
  bool drawn_constants = false;
};

struct PrepareReport {
  double seconds = 0;
  double bytes = 0;
  bool seeded = false;  // ModelNew makes weights of its own under the seed: those of the set were not loaded
  std::optional<GpuReport> gpu;
};

// What PyTorch's own operators did in a call of ModelNew.
struct OperatorUse {
  std::string name;
  int calls = 0;
  double seconds = 0;
  int line = 0;           // of the candidate; 0: unknown
  bool movement = false;  // the same values elsewhere
};
struct WatchedCall {
  bool in_force = false;  // the watch was still there at the end
  double seconds = 0;     // of the call, slowed down by being watched
  std::vector<OperatorUse> operators;
};

struct CallReport {
  std::vector<double> seconds;  // of each call, by the runner's clock
  double outside_seconds = 0;   // of all orders together, by ours
  // Of each call by our clock: its order, with inputs brought and answers given, over the calls of that order.
  std::vector<double> outside;
  bool float_state_changed = false;
  std::optional<GpuReport> gpu;      // of the last of the calls
  std::vector<double> late_seconds;  // of each call on a real GPU: how long it worked on when the stream was done
  std::optional<WatchedCall> watched;

  void append(CallReport next);
};

class Session {
 public:
  static Result<Session> create(const ProblemDescription& problem, const CompiledKernel& kernel, SessionOptions options);
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  // The memory of an input, weight or scalar, to be filled with exactly the argument's bytes; `argument` counts inputs,
  // parameters and outputs in the contract's order.
  std::span<std::byte> contents(std::size_t argument, int slot);

  // The seed that the module of the problem was built under: ModelNew is built under the same.
  void set_own_weights(OwnWeights own);

  // Starts the process and loads the kernel, whose static constructors run then. Again after an end: another process.
  Result<Answered<bool>> launch(std::chrono::milliseconds deadline);
  Result<Answered<PrepareReport>> prepare(std::chrono::milliseconds deadline);
  // Calls the kernel once per entry. Inputs come right before the first call on them: none of them is in the process earlier. When
  // it returns, the process is stopped and stays so until the next order.
  Result<Answered<CallReport>> call(std::span<const int> slots, std::span<const int> outs, bool poison,
                                    std::chrono::milliseconds deadline);

  // What an order took, at the least, when it was rehearsed before the kernel was loaded; 0 without rehearsals.
  [[nodiscard]] double order_seconds() const;

  // Calls in a row on a real GPU, on what the last call left there, as one time by its own events and one by our clock.
  Result<Answered<CallReport>> burst(int calls, std::chrono::milliseconds deadline);

  // An output as it was when the last order was done. Sets `canary_broken` when memory around it was written.
  Result<std::vector<std::byte>> output(std::size_t argument, int out_slot, bool& canary_broken);

  // Whether the process computes although no call is under way. Only meaningful with passive waits.
  bool runs_in_the_background();

  // Ends the process and returns what it printed, and whether that was more than is kept.
  struct Printed {
    std::string text;
    bool too_much = false;
  };
  Printed finish();

 private:
  struct State;
  Result<Answered<CallReport>> order_calls(Json message, int inputs, std::size_t times, std::chrono::milliseconds deadline,
                                           bool last = true);
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kw
