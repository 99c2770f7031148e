#include "search/model_author.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "agent/aligner.h"
#include "agent/conductor.h"
#include "agent/debugger.h"
#include "agent/strategist.h"
#include "agent/translator.h"
#include "llm/continuation.h"
#include "search/lineage.h"

namespace kw {
namespace {

constexpr std::size_t kLedgerRows = 12;

std::string fault_text(const Fault& fault) { return fmt::format("{}: {}", name_of(fault.kind), fault.detail.substr(0, 300)); }

// One line that can be printed and stored, whatever a model wrote.
std::string clean_line(const std::string& text) {
  std::string line;
  for (const char c : llm::as_utf8(text)) line += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  return line;
}

void add_new(std::vector<std::string>& ids, const std::vector<std::string>& more, const StrategyPool& pool) {
  for (const std::string& id : more) {
    const bool there = std::find(ids.begin(), ids.end(), id) != ids.end();
    const bool excluded = std::any_of(ids.begin(), ids.end(), [&](const std::string& other) { return pool.conflict(id, other); });
    if (!there && !excluded) ids.push_back(id);
  }
}

}  // namespace

// The model, with every exchange kept.
class ModelAuthor::Observed : public Model {
 public:
  explicit Observed(ModelAuthor& author) : author_(author), model_(*author.context_.model) {}
  Result<Exchange> chat(const ChatRequest& request) override {
    if (author_.context_.progress) {
      const std::lock_guard lock(author_.mutex_);
      author_.context_.progress(fmt::format("asking {} ({})", model_.name(), request.purpose));
    }
    auto exchange = model_.chat(request);
    const std::lock_guard lock(author_.mutex_);
    if (exchange) {
      author_.exchanges_.push_back(*exchange);
      prompts_.push_back(exchange->prompt_hash);
    } else {
      author_.broken_ = exchange.error();
    }
    return exchange;
  }
  [[nodiscard]] std::string name() const override { return model_.name(); }
  [[nodiscard]] int context_tokens() const override { return model_.context_tokens(); }
  [[nodiscard]] ModelUsage usage() const override { return model_.usage(); }
  [[nodiscard]] const std::vector<std::string>& prompts() const { return prompts_; }

 private:
  ModelAuthor& author_;
  Model& model_;
  std::vector<std::string> prompts_;  // of this one's exchanges
};

void extend_pool(StrategyPool& pool, const std::vector<Strategy>& strategies, std::vector<std::string>& remarks) {
  if (strategies.empty()) return;
  std::vector<Strategy> together = pool.all();
  together.insert(together.end(), strategies.begin(), strategies.end());
  if (auto extended = StrategyPool::from(std::move(together))) {
    pool = std::move(*extended);
    return;
  }
  for (const Strategy& strategy : strategies) {
    std::vector<Strategy> all = pool.all();
    all.push_back(strategy);
    if (auto extended = StrategyPool::from(std::move(all)))
      pool = std::move(*extended);
    else
      remarks.push_back(fmt::format("the idea '{}' was left out: {}", strategy.name, extended.error().message));
  }
}

std::vector<Exchange> ModelAuthor::take_exchanges() {
  const std::lock_guard lock(mutex_);
  return std::exchange(exchanges_, {});
}

const Individual* ModelAuthor::individual(std::int64_t index) const {
  const auto& all = *context_.individuals;
  return index < 0 || index >= static_cast<std::int64_t>(all.size()) ? nullptr : &all[static_cast<std::size_t>(index)];
}

std::vector<Strategy> ModelAuthor::strategies_of(const std::vector<std::string>& ids, const std::vector<Strategy>& also) const {
  std::vector<Strategy> found;
  for (const std::string& id : ids) {
    if (const Strategy* known = context_.pool->find(id)) found.push_back(*known);
    for (const Strategy& strategy : also)
      if (strategy.id == id) found.push_back(strategy);
  }
  return found;
}

// Findings lead away from structure while structure still pays: they are withheld until then.
std::vector<std::string> ModelAuthor::findings_for(const Individual* parent, Written& written) const {
  const auto stalled = structure_stalled_at(*context_.individuals);
  if (!stalled || parent == nullptr) return {};
  constexpr std::string_view kSwitch = "profile findings are shown from here on";
  const auto said = [&](const Individual& each) {
    return std::any_of(each.remarks.begin(), each.remarks.end(),
                       [&](const std::string& line) { return line.starts_with(kSwitch); });
  };
  const bool again = std::any_of(written.remarks.begin(), written.remarks.end(),
                                 [&](const std::string& line) { return line.starts_with(kSwitch); });
  if (!again && std::none_of(context_.individuals->begin(), context_.individuals->end(), said))
    written.remarks.push_back(fmt::format("{}: by kernel {} structure had not gained anything {} times in a row", kSwitch,
                                          *stalled - 1, kStructureStalls));
  return parent->findings;
}

void ModelAuthor::translate_into(Written& written, Desk& desk, const std::vector<std::string>& strategies, const Individual* parent,
                                 const Individual* failed) {
  Translation task;
  task.strategies = strategies_of(strategies, written.invented);
  task.parent = parent;
  task.findings = findings_for(parent, written);
  task.failed = failed;
  task.seed = context_.seed + context_.individuals->size();
  WrittenKernel made = translate(desk, context_.brief, task);
  written.proposal.strategies = strategies;
  std::sort(written.proposal.strategies.begin(), written.proposal.strategies.end());
  if (made.fault)
    written.failure = fmt::format("no kernel was written: {}", fault_text(*made.fault));
  else
    written.kernel = std::move(made.kernel);
}

void ModelAuthor::invent_into(Written& written, Desk& desk) {
  StrategyRequest request;
  request.pool = context_.pool;
  request.usable = context_.fitting;
  std::vector<std::string> strategies;
  for (const std::int64_t index : written.proposal.parents)
    if (const Individual* parent = individual(index)) request.parents.push_back(parent);
  request.ledger_rows = telling_rows(*context_.ledger, context_.brief.zone, context_.brief.workload_class, kLedgerRows);
  const Individual* parent = request.parents.empty() ? nullptr : request.parents.front();
  request.findings = findings_for(parent, written);
  request.seed = context_.seed + context_.individuals->size();
  StrategyPlan plan = plan_strategies(desk, context_.brief, request);
  for (std::string& line : plan.refused) written.remarks.push_back(std::move(line));
  if (plan.fault && plan.fault->kind == AnswerFault::no_answer) {
    written.failure = fmt::format("no strategy was proposed: {}", fault_text(*plan.fault));
    return;
  }
  // A crossover chooses among both parents' strategies; a new idea comes on top of its parent's.
  if (parent != nullptr && (written.proposal.task != "cross" || plan.fault))
    add_new(strategies, parent->real_strategies(), *context_.pool);
  if (plan.fault) {
    written.remarks.push_back(
        fmt::format("the strategist's answer could not be used ({}): a known strategy instead", fault_text(*plan.fault)));
    for (const std::string& id : context_.fitting) {
      const std::size_t before = strategies.size();
      add_new(strategies, {id}, *context_.pool);
      if (strategies.size() > before) break;
    }
  }
  add_new(strategies, plan.use, *context_.pool);
  written.invented = plan.invented;
  for (const Strategy& idea : plan.invented) strategies.push_back(idea.id);
  translate_into(written, desk, strategies, parent, nullptr);
}

void ModelAuthor::repair_into(Written& written, Desk& desk) {
  const Individual* broken = written.proposal.parents.empty() ? nullptr : individual(written.proposal.parents.front());
  if (broken == nullptr) {
    written.failure = "there is no kernel to repair";
    return;
  }
  Failure failure;
  failure.source = broken->kernel.source;
  failure.verdict = broken->verdict;
  failure.diagnosis = broken->details;
  failure.strategies = broken->kernel.claims;
  for (const Individual* each : lineage_of(*context_.individuals, lineage_root(*context_.individuals, broken->index)))
    if (each->proposal.task == "repair" && each->index > broken->index)
      failure.tried.push_back(fmt::format("{} -> {}: {}", fmt::join(each->remarks, "; "), name_of(each->verdict), each->diagnosis));
  Repair made = repair(desk, context_.brief, failure);
  if (!made.cause.cause.empty()) written.remarks.push_back(fmt::format("cause: {}", made.cause.cause));
  if (!made.cause.fix.empty()) written.remarks.push_back(fmt::format("fix: {}", made.cause.fix));
  if (made.fault)
    written.failure = fmt::format("it was not repaired: {}", fault_text(*made.fault));
  else
    written.kernel = kernel_of_model(std::move(made.source), context_.brief.dsl, broken->kernel.claims, desk.model().name());
}

void ModelAuthor::regenerate_into(Written& written, Desk& desk) {
  const auto& parents = written.proposal.parents;
  const Individual* failed = parents.empty() ? nullptr : individual(parents.front());
  const Individual* parent = parents.size() > 1 ? individual(parents[1]) : nullptr;
  std::vector<std::string> strategies = written.proposal.strategies;
  if (failed != nullptr && strategies.empty()) strategies = failed->kernel.claims;
  translate_into(written, desk, strategies, parent, failed);
}

void ModelAuthor::decide_into(Written& written, Desk& desk) {
  const auto& parents = written.proposal.parents;
  const std::int64_t root = parents.empty() ? -1 : lineage_root(*context_.individuals, parents.front());
  const auto lineage = lineage_of(*context_.individuals, root);
  const Conduct conduct = decide_by_model(desk, context_.brief, lineage);
  written.proposal.task = name_of(conduct.decision);
  written.remarks.push_back(fmt::format("the conductor: {}: {}", name_of(conduct.decision), conduct.why));
  if (conduct.decision == Decision::repair)
    repair_into(written, desk);
  else if (conduct.decision == Decision::regenerate)
    regenerate_into(written, desk);
  else
    written.failure = fmt::format("the lineage was dropped: {}", conduct.why);
}

Written ModelAuthor::write_one(const Proposal& proposal) {
  const auto start = std::chrono::steady_clock::now();
  Written written;
  written.proposal = proposal;
  Observed model(*this);
  Desk desk(model, *context_.library);
  const std::string& task = proposal.task;
  const auto parent = [&]() { return proposal.parents.empty() ? nullptr : individual(proposal.parents.front()); };
  if (task == "knobs") {
    if (const Individual* same = parent()) written.kernel = same->kernel;
  } else if (task == "invent" || task == "cross") {
    invent_into(written, desk);
  } else if (task == "repair") {
    repair_into(written, desk);
  } else if (task == "regenerate") {
    regenerate_into(written, desk);
  } else if (task == "decide") {
    decide_into(written, desk);
  } else {
    translate_into(written, desk, proposal.strategies, parent(), nullptr);
  }
  written.faults = desk.take_faults();
  written.prompts = model.prompts();
  for (const std::string& section : desk.take_left_out())
    written.remarks.push_back(fmt::format("left out of a prompt: {}", section));
  written.failure = clean_line(written.failure);
  for (std::string& remark : written.remarks) remark = clean_line(remark);
  written.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return written;
}

// Ideas become strategies of the run. Two that were made at the same time may have the same id.
void ModelAuthor::adopt(Written& written) {
  std::vector<Strategy> taken;
  for (Strategy& idea : written.invented) {
    const std::string before = idea.id;
    for (int number = 2; context_.pool->find(idea.id) != nullptr; ++number) idea.id = fmt::format("{}_{}", before, number);
    const auto rename = [&](std::vector<std::string>& ids) {
      std::replace(ids.begin(), ids.end(), before, idea.id);
      std::sort(ids.begin(), ids.end());
    };
    rename(written.kernel.claims);
    rename(written.proposal.strategies);
    extend_pool(*context_.pool, {idea}, written.remarks);
    if (context_.pool->find(idea.id) != nullptr) {
      taken.push_back(idea);
    } else {
      std::erase(written.kernel.claims, idea.id);
      std::erase(written.proposal.strategies, idea.id);
    }
  }
  written.invented = std::move(taken);
}

std::vector<Written> ModelAuthor::write(const std::vector<Proposal>& proposals) {
  std::vector<Written> all;
  if (proposals.size() == 1) {
    all.push_back(write_one(proposals.front()));
  } else {
    std::vector<std::future<Written>> writing;
    for (const Proposal& proposal : proposals)
      writing.push_back(std::async(std::launch::async, [this, &proposal] { return write_one(proposal); }));
    for (auto& each : writing) all.push_back(each.get());
  }
  for (Written& written : all) adopt(written);
  return all;
}

void ModelAuthor::settle(Individual& individual) {
  const bool open = std::any_of(individual.strategies.begin(), individual.strategies.end(),
                                [](const AlignedStrategy& each) { return each.presence == Presence::unknown; });
  if (!open) return;
  // The same source with other knobs has been looked at before.
  for (const Individual& earlier : *context_.individuals)
    if (earlier.kernel.source == individual.kernel.source && !earlier.strategies.empty()) {
      for (AlignedStrategy& each : individual.strategies)
        for (const AlignedStrategy& before : earlier.strategies)
          if (each.id == before.id && each.presence == Presence::unknown) each = before;
      return;
    }
  Observed model(*this);
  Desk desk(model, *context_.library);
  settle_unknown(desk, context_.brief, individual.kernel.source, context_.pool->all(), individual.strategies);
  for (std::string& fault : desk.take_faults()) individual.faults.push_back(std::move(fault));
  individual.prompts.insert(individual.prompts.end(), model.prompts().begin(), model.prompts().end());
}

}  // namespace kw
