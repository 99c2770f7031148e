#include "measure/subject.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "measure/statistics.h"

namespace kw {
namespace {

// How often the outputs of a block are looked at, beside the first block's.
constexpr double kCheckedShare = 0.25;
// Rehearsals of an order before each block, and seconds that an order may take beyond the quickest of them.
constexpr int kRehearsals = 4;
constexpr double kBetweenProcesses = 1e-4;
// The same where an interpreter, whose caches the call has filled with other things, takes and answers the order.
constexpr double kBetweenInterpreters = 1e-3;
// Seconds that asking an idle GPU whether it is done may take.
constexpr double kAskingGpu = 20e-6;

double unaccounted_share(const CallReport& report, double order_seconds, double allowed, int warmup, bool on_gpu) {
  if (!on_gpu) {
    // By the same statistic as the block's time: bending the inside clock in the few calls that decide it shows.
    const double outside = block_seconds({report.outside.begin() + warmup, report.outside.end()}) - order_seconds;
    const double inside = block_seconds({report.seconds.begin() + warmup, report.seconds.end()});
    return std::max(0.0, outside - inside - allowed) / std::max(outside, 1e-9);
  }
  const double inside = std::accumulate(report.seconds.begin(), report.seconds.end(), 0.0);
  // Between the calls tensors are brought and taken away, which no clock outside can tell from the calls; what is still under way
  // at their ends is what counts.
  double late = 0;
  for (const double seconds : report.late_seconds) late += std::max(0.0, seconds - kAskingGpu);
  return late / std::max(inside + late, 1e-9);
}

}  // namespace

std::optional<RunFailure> failure_on_gpu(const std::optional<GpuReport>& report, const std::string& stage) {
  if (!report || report->error == 0) return std::nullopt;
  RunFailure failure;
  failure.diagnosis = {
      stage,
      fmt::format("the GPU refuses or ends the kernel: {}", report->error_name),
      "",
      {},
      "it passed on the virtual GPU: look for memory, registers or instructions that this GPU has less of, and for "
      "races",
      ""};
  return failure;
}

KernelSubject::KernelSubject(Session session, const TimingSets& sets, int out_slots, std::chrono::milliseconds deadline,
                             OutputCheck check)
    : session_(std::move(session)), sets_(sets), out_slots_(out_slots), deadline_(deadline), check_(std::move(check)) {}

Result<std::unique_ptr<KernelSubject>> KernelSubject::make(const CompiledKernel& kernel, const ProblemDescription& problem,
                                                           const TimingSets& sets, SessionOptions options,
                                                           std::chrono::milliseconds deadline, OutputCheck check) {
  options.slots = static_cast<int>(sets.sets.size());
  options.out_slots = sets.outputs_alive;
  options.rehearsals = kRehearsals;
  const int out_slots = options.out_slots;
  const bool on_gpu = options.device.has_value();
  KW_TRY(Session session, Session::create(problem, kernel, std::move(options)));
  for (std::size_t i = 0; i < sets.sets.size(); ++i) KW_CHECK(load_inputs(session, problem, sets.sets[i], static_cast<int>(i)));
  KW_CHECK(load_weights(session, problem, sets.sets.front()));
  std::unique_ptr<KernelSubject> subject(new KernelSubject(std::move(session), sets, out_slots, deadline, std::move(check)));
  subject->on_gpu_ = on_gpu;
  subject->between_ = kernel.python ? kBetweenInterpreters : kBetweenProcesses;
  return subject;
}

Result<Block> KernelSubject::block(std::span<const int> order, int warmup) {
  KW_TRY(auto launched, session_.launch(deadline_));
  if (!launched.ok()) return Block{{}, launched.failure};
  KW_TRY(auto prepared, session_.prepare(deadline_));
  if (!prepared.ok()) return Block{{}, prepared.failure};
  if (on_gpu_)
    if (auto failure = failure_on_gpu(prepared.value->gpu, "prepare")) return Block{{}, *failure};
  prepares_.push_back(*prepared.value);

  std::vector<int> outs(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) outs[i] = static_cast<int>(i) % out_slots_;
  KW_TRY(auto called, session_.call(order, outs, false, deadline_ * static_cast<int>(order.size())));
  if (!called.ok()) return Block{{}, called.failure};
  const auto& report = *called.value;
  if (on_gpu_)
    if (auto failure = failure_on_gpu(report.gpu, "run")) return Block{{}, *failure};
  unaccounted_shares_.push_back(unaccounted_share(report, session_.order_seconds(), between_, warmup, on_gpu_));

  // The process stands still; whether its outputs are looked at was not known to anyone before.
  if (blocks_++ == 0 || std::bernoulli_distribution(kCheckedShare)(random_)) {
    const std::size_t kept = std::min(order.size(), static_cast<std::size_t>(out_slots_));
    for (std::size_t call = order.size() - kept; call < order.size(); ++call) {
      KW_TRY(auto failure, check_(session_, sets_.sets[static_cast<std::size_t>(order[call])], outs[call]));
      ++checked_calls_;
      if (failure) return Block{{}, *failure};
    }
  }
  session_.finish();
  return Block{std::vector<double>(report.seconds.begin() + warmup, report.seconds.end()), {}};
}

Result<std::unique_ptr<OracleSubject>> OracleSubject::make(OracleClient& oracle, const std::string& problem_file,
                                                           const TimingSets& sets, const std::string& mode, int threads,
                                                           const std::optional<GpuTiming>& gpu) {
  Json folders = Json::array();
  for (const auto& set : sets.sets) folders.push_back(set.folder.string());
  std::unique_ptr<OracleSubject> subject(new OracleSubject(oracle, {{"problem", problem_file},
                                                                    {"folders", folders},
                                                                    {"mode", mode},
                                                                    {"threads", threads},
                                                                    {"outputs_alive", sets.outputs_alive}}));
  if (gpu) {
    subject->load_["device"] = fmt::format("cuda:{}", gpu->gpu.index);
    subject->load_["flush_bytes"] = gpu->gpu.flush_bytes();
    subject->load_["tf32"] = gpu->precision == "tf32";
  }
  KW_CHECK(subject->load());
  return subject;
}

Status OracleSubject::load() {
  KW_TRY(const Json answer, oracle_.ask("baseline_load", load_, std::chrono::seconds(900)));
  KW_TRY(handle_, read_fields("the oracle's answer", [&] { return answer.at("handle").get<std::int64_t>(); }));
  generation_ = oracle_.generation();
  return {};
}

OracleSubject::~OracleSubject() {
  if (handle_ >= 0 && generation_ == oracle_.generation())
    (void)oracle_.ask("baseline_unload", {{"handle", handle_}}, std::chrono::seconds(30)).ok();
}

Result<Block> OracleSubject::block(std::span<const int> order, int warmup) {
  if (generation_ != oracle_.generation()) KW_CHECK(load());
  const auto timed = order.subspan(static_cast<std::size_t>(warmup));
  const auto ask = [&] { return oracle_.ask("baseline_block", {{"handle", handle_}, {"order", timed}, {"warmup", warmup}}); };
  auto answered = ask();
  if (!answered && generation_ != oracle_.generation()) {  // it died under the question: the new one has no such handle yet
    KW_CHECK(load());
    answered = ask();
  }
  KW_TRY(const Json answer, std::move(answered));
  KW_TRY(auto seconds, read_fields("the oracle's answer", [&] { return answer.at("seconds").get<std::vector<double>>(); }));
  if (seconds.empty()) return internal_error("the oracle timed no calls");
  return Block{std::move(seconds), {}};
}

}  // namespace kw
