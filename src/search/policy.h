// How a search chooses what to try next. A policy sees outcomes and asks for kernels; it never compiles, runs or times one, and
// with the same context and the same outcomes it always asks for the same: a run is resumed by telling a new policy what the
// old one was told.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/run.h"

namespace kw {

class StrategyPool;
class Ledger;

// All that a policy may know. Everything in it is recorded with the run.
struct SearchContext {
  const StrategyPool* pool = nullptr;
  std::vector<std::string> usable;  // ids that apply to the problem and that the coder can realise
  std::string zone, workload_class;
  const Ledger* ledger = nullptr;  // as it was when the run began; none: nothing is known but what strategies promise
  std::vector<Lesson> history;     // of similar problems, nearest first
  std::uint64_t seed = 0;
  int islands = 1;
  int batch = 1;  // as many proposals an ask() returns at most: they are compiled side by side
  // The coder: its claims tell which strategies took effect.
  std::function<Result<Kernel>(const std::vector<std::string>&)> write;
};

class Policy {
 public:
  virtual ~Policy() = default;
  // Empty: nothing is left to try. A kernel (source and knobs) is proposed twice only to be timed again, with more effort.
  virtual std::vector<Proposal> ask() = 0;
  // The outcomes of the last ask, in its order.
  virtual void tell(const std::vector<Individual>& outcomes) = 0;
  // For people: "seeds", "generation 3", "knobs".
  [[nodiscard]] virtual std::string phase() const = 0;
};

// By the names in policy_names().
Result<std::unique_ptr<Policy>> make_policy(std::string_view name, SearchContext context);
std::vector<std::string> policy_names();

}  // namespace kw
