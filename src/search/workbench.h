// What all policies share: the coder's drafts, which kernels have been proposed, what came of them, and the run's beliefs.
// It decides nothing.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "search/genes.h"
#include "search/knob_space.h"
#include "search/notebook.h"
#include "search/policy.h"
#include "search/score.h"
#include "search/tuner.h"

namespace kw {

// A kernel that the coder has written for a set of strategies.
struct Draft {
  Genes asked;   // strategies that it was written for
  Genes claims;  // those that took effect
  KnobSpace space;
  std::string key;  // of the source
};

// A proposal on its way, with what the policy wants to remember about it.
struct Order {
  Proposal proposal;
  const Draft* draft = nullptr;
  KnobPoint point;
  double knob_gain = 0;  // what its knobs should give over the defaults, as far as known
};

// What an order came to.
struct Outcome {
  std::int64_t index = -1;
  Score score;
  bool duplicate = false;  // code that was there before: nothing new
  std::vector<std::string> findings;
};

class Workbench {
 public:
  explicit Workbench(SearchContext context);

  [[nodiscard]] const SearchContext& context() const { return context_; }
  [[nodiscard]] const Catalogue& catalogue() const { return catalogue_; }
  [[nodiscard]] const Notebook& notebook() const { return notebook_; }
  KnobMemory& knob_memory() { return knob_memory_; }

  // Null when the coder declines.
  const Draft* draft(const Genes& genes);
  // An order for this kernel, unless it has been ordered before. The knobs are taken over as far as the kernel has them.
  std::optional<Order> order(const Genes& genes, const KnobValues& knobs, std::string origin, std::vector<std::int64_t> parents);
  std::optional<Order> order(const Draft& draft, const KnobPoint& point, std::string origin, std::vector<std::int64_t> parents);
  // The same kernel again, to be timed with more effort.
  [[nodiscard]] static Order again(const Order& before, std::string origin, std::int64_t parent, int effort);
  // How the kernel did when it was timed with at least this effort.
  [[nodiscard]] std::optional<Outcome> known(const Draft& draft, const KnobPoint& point, int effort) const;

  // Takes an outcome down: beliefs change, unless it is a duplicate or only the knobs differ from a kernel that is known.
  Outcome note(const Order& order, const Individual& individual);

  // Strategies by falling belief, those that should harm left out.
  [[nodiscard]] std::vector<int> promising() const;

 private:
  struct Known {
    int effort = 0;
    Outcome outcome;
  };
  [[nodiscard]] static std::string key_of_kernel(const Draft& draft, const KnobPoint& point);

  SearchContext context_;
  Catalogue catalogue_;
  Notebook notebook_;
  KnobMemory knob_memory_;
  std::map<Genes, std::unique_ptr<Draft>> drafts_;
  std::map<std::string, Known> kernels_;  // ordered ones; effort -1: nothing is known yet
};

// A tuning under way, in terms of orders.
class TuningSession {
 public:
  // Begins at an order and its outcome.
  TuningSession(Workbench& bench, const Order& start, const Outcome& outcome, int glances, Random random);
  // Empty: done.
  std::vector<Order> ask(int most);
  void tell(const Order& order, const Outcome& outcome);

  [[nodiscard]] const Order& start() const { return start_; }
  // The order with the best knobs; nothing when the start remains the best.
  [[nodiscard]] std::optional<Order> best() const;
  [[nodiscard]] const Outcome& outcome_of(const KnobPoint& point) const { return outcomes_.at(point); }

 private:
  Workbench& bench_;
  Order start_;
  Tuner tuner_;
  std::map<KnobPoint, Outcome> outcomes_;  // the latest
};

}  // namespace kw
