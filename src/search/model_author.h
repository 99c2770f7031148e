// A model as an author of kernels: carries proposals out through the agents (strategist, translator, debugger, conductor, aligner).
// It keeps every exchange, extends the run's pool by ideas that were accepted, and never judges a kernel.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "agent/brief.h"
#include "agent/desk.h"
#include "search/author.h"
#include "strategy/ledger.h"

namespace kw {

struct AuthorContext {
  Model* model = nullptr;
  const Library* library = nullptr;
  TaskBrief brief;
  StrategyPool* pool = nullptr;  // the run's own; ideas are added to it
  const Ledger* ledger = nullptr;
  const std::vector<Individual>* individuals = nullptr;  // so far
  std::vector<std::string> fitting;                      // strategies that apply, the most promising first
  std::uint64_t seed = 0;                                // another one gives other answers to the same questions
  std::function<void(const std::string&)> progress;
};

class ModelAuthor : public Author {
 public:
  explicit ModelAuthor(AuthorContext context) : context_(std::move(context)) {}
  std::vector<Written> write(const std::vector<Proposal>& proposals) override;
  void settle(Individual& individual) override;

  // Since the last call, in the order that they ended.
  std::vector<Exchange> take_exchanges();
  // Why the model cannot be asked any more, as it said last.
  [[nodiscard]] const std::optional<Error>& broken() const { return broken_; }

 private:
  class Observed;
  Written write_one(const Proposal& proposal);
  void translate_into(Written& written, Desk& desk, const std::vector<std::string>& strategies, const Individual* parent,
                      const Individual* failed);
  void invent_into(Written& written, Desk& desk);
  void repair_into(Written& written, Desk& desk);
  void regenerate_into(Written& written, Desk& desk);
  void decide_into(Written& written, Desk& desk);
  void adopt(Written& written);
  [[nodiscard]] const Individual* individual(std::int64_t index) const;
  [[nodiscard]] std::vector<Strategy> strategies_of(const std::vector<std::string>& ids, const std::vector<Strategy>& also) const;
  [[nodiscard]] std::vector<std::string> findings_for(const Individual* parent, Written& written) const;

  AuthorContext context_;
  std::mutex mutex_;
  std::vector<Exchange> exchanges_;
  std::optional<Error> broken_;
};

// Adds strategies to a pool; those that it does not take are left out, with a remark.
void extend_pool(StrategyPool& pool, const std::vector<Strategy>& strategies, std::vector<std::string>& remarks);

}  // namespace kw
