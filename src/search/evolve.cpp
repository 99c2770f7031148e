#include "search/evolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "strategy/pool.h"
#include "strategy/random.h"

namespace kw {

namespace {

constexpr std::size_t kPopulation = 10;
constexpr std::size_t kHistorySeeds = 2;
constexpr int kTournament = 3;
constexpr int kCrossovers = 4, kFurtherMutations = 4;
constexpr int kClimb = 6;  // changes at a time that belief alone may make
constexpr double kWorthAClimb = 1.02;
constexpr int kDraws = 10;
constexpr int kMigrationInterval = 3;    // generations
constexpr int kStagnation = 4;           // kernels without a gain after which knobs are tuned, and twice as many before a restart
constexpr int kStructureStretch = 10;    // kernels after which knobs are tuned even though structure still pays
constexpr double kLittleHope = 0.004;    // an improvement that is not worth a kernel
constexpr double kMoreThanKnobs = 0.01;  // an improvement by structure that is worth a kernel while the knobs are as they came
constexpr int kRestartsWithoutGain = 6;  // after which the search has found what it can find
constexpr int kFirstGlances = 8, kMoreGlances = 4, kMostGlances = 24;
constexpr std::size_t kTunedFurther = 3;  // members of an island whose knobs are worth what budget is left
constexpr int kMostTunings = 5;           // of each
constexpr double kCuriosity = 1;          // deviations that every second island adds to what it expects

}  // namespace

Evolve::Evolve(SearchContext context)
    : bench_(std::move(context)),
      variation_(bench_),
      random_(bench_.context().seed),
      islands_(static_cast<std::size_t>(bench_.context().islands)) {
  plan_seeds();
}

// By drawing each strategy's effect from what is believed of it: now optimistic about one, now about another.
Genes Evolve::sampled() {
  const std::vector<Estimate>& effects = bench_.notebook().effects();
  std::vector<std::pair<double, int>> drawn;
  for (int gene = 0; gene < bench_.catalogue().size(); ++gene) {
    const Estimate& effect = effects[static_cast<std::size_t>(gene)];
    const double gain = effect.mean + effect.deviation * random_.normal();
    if (gain > 0) drawn.emplace_back(-gain, gene);
  }
  std::sort(drawn.begin(), drawn.end());
  std::vector<int> in_order;
  for (const auto& [gain, gene] : drawn) in_order.push_back(gene);
  return bench_.catalogue().together(in_order);
}

// Of a few draws: a new beginning need not repeat what has failed.
template <typename Draw>
Genes Evolve::least_suspicious(const Draw& draw) const {
  Genes best = draw();
  double risk = bench_.notebook().risk(best);
  for (int i = 1; i < kDraws && risk > 0; ++i) {
    Genes other = draw();
    if (const double others = bench_.notebook().risk(other); others < risk) {
      risk = others;
      best = std::move(other);
    }
  }
  return best;
}

void Evolve::plan_seeds() {
  const Catalogue& catalogue = bench_.catalogue();
  const std::vector<int> promising = bench_.promising();
  std::vector<Seed> planned;
  planned.push_back({catalogue.together(promising), {}, "seed"});
  // The same without what may turn out to be too imprecise: where the first one fails, there is something to go on from.
  std::vector<int> careful = promising;
  if (std::erase_if(careful, [&](int gene) { return catalogue[gene].rounding; }) > 0)
    planned.push_back({catalogue.together(careful), {}, "seed"});
  const std::size_t own = planned.size();
  for (const Lesson& lesson : bench_.context().history) {
    if (planned.size() >= own + kHistorySeeds) break;
    const Genes genes = catalogue.together(catalogue.genes(lesson.strategies));
    if (!genes.empty()) planned.push_back({genes, lesson.best_knobs, "history"});
  }
  std::vector<int> of_zone;
  for (const int gene : promising)
    if (pays_in(catalogue[gene], bench_.context().zone)) of_zone.push_back(gene);
  of_zone.resize((of_zone.size() + 1) / 2);
  planned.push_back({catalogue.together(of_zone), {}, "seed"});
  planned.push_back({{}, {}, "seed"});  // late: it says little, and takes long
  for (std::size_t i = 0; i <= islands_.size(); ++i)
    planned.push_back({i % 2 == 0 ? sampled() : variation_.drawn(random_), {}, "seed"});
  seeds_.assign(planned.rbegin(), planned.rend());
}

std::vector<Proposal> Evolve::ask() {
  orders_.clear();
  tuning_orders_ = false;
  for (;;) {
    ask_seeds();
    if (orders_.empty()) ask_tuner();
    if (!orders_.empty()) break;
    if (tuning_is_due()) {
      begin_tuning(islands_[static_cast<std::size_t>(leading_island())].front(),
                   std::min(kFirstGlances + kMoreGlances * tunings_, kMostGlances));
      continue;
    }
    const bool stagnates = hope_ < kLittleHope || since_gain_ >= 2 * kStagnation + bench_.catalogue().size();
    if (!stagnates && ask_generation()) break;
    hope_ = 0;
    if (!tuning_is_due() && !diversify() && !tune_further()) break;
  }
  std::vector<Proposal> proposals;
  for (const Order& order : orders_) proposals.push_back(order.proposal);
  return proposals;
}

void Evolve::ask_seeds() {
  while (!seeds_.empty() && static_cast<int>(orders_.size()) < bench_.context().batch) {
    const Seed seed = std::move(seeds_.back());
    seeds_.pop_back();
    auto order = bench_.order(seed.genes, seed.knobs, seed.origin, {});
    if (!order) continue;
    order->proposal.island = seeds_planned_++ % static_cast<int>(islands_.size());
    order->proposal.generation = generation_;
    orders_.push_back(std::move(*order));
  }
}

void Evolve::ask_tuner() {
  if (!tuning_) return;
  orders_ = tuning_->ask(bench_.context().batch);
  tuning_orders_ = !orders_.empty();
  for (Order& order : orders_) {
    order.proposal.island = tuning_->start().proposal.island;
    order.proposal.generation = generation_;
  }
  if (orders_.empty()) end_tuning();
}

const Evolve::Member& Evolve::tournament(const Population& population) {
  std::size_t best = population.size();
  for (int i = 0; i < kTournament; ++i)  // sorted: the smallest position wins
    best = std::min(best, static_cast<std::size_t>(random_.below(static_cast<int>(population.size()))));
  return population[best];
}

Genes Evolve::toggled(const Genes& genes, int gene) const {
  return contains(genes, gene) ? bench_.catalogue().without(genes, gene) : bench_.catalogue().with(genes, gene);
}

// As far as single changes lead by belief alone, before any of them is tried.
Genes Evolve::climbed(Genes genes, const Notebook& expected, double level) const {
  double height = expected.expected_improvement(genes, level);
  for (int step = 0; step < kClimb; ++step) {
    Genes best;
    double best_height = height;
    for (int gene = 0; gene < bench_.catalogue().size(); ++gene) {
      Genes changed = toggled(genes, gene);
      const double reached = expected.expected_improvement(changed, level);
      if (reached <= best_height) continue;
      best_height = reached;
      best = std::move(changed);
    }
    if (best_height <= height * kWorthAClimb) break;
    genes = std::move(best);
    height = best_height;
  }
  return genes;
}

std::vector<Evolve::Child> Evolve::children_of(int island) {
  const Population& population = islands_[static_cast<std::size_t>(island)];
  const Catalogue& catalogue = bench_.catalogue();
  std::vector<Child> children;
  if (population.empty()) {
    for (int i = 0; i < kCrossovers; ++i) children.push_back({sampled(), "seed", nullptr, {}});
    return children;
  }
  if (catalogue.size() == 0) return children;
  const Member& leader = population.front();
  for (int gene = 0; gene < catalogue.size(); ++gene)
    children.push_back({toggled(leader.order.draft->claims, gene), "mutation", &leader, {leader.outcome.index}});
  for (int i = 0; i < kFurtherMutations; ++i) {
    const Member& parent = tournament(population);
    const Genes once = toggled(parent.order.draft->claims, random_.below(catalogue.size()));
    children.push_back({variation_.mutated(once, random_), "mutation", &parent, {parent.outcome.index}});
  }
  for (int i = 0; i < kCrossovers && population.size() > 1; ++i) {
    const Member& one = tournament(population);
    const Member& other = tournament(population);
    if (&one == &other) continue;
    children.push_back({variation_.crossed(one.order.draft->claims, other.order.draft->claims, random_),
                        "crossover",
                        &one,
                        {one.outcome.index, other.outcome.index}});
  }
  children.push_back({sampled(), "seed", nullptr, {}});
  return children;
}

std::optional<Order> Evolve::order_of(const Child& child) {
  auto order = bench_.order(child.genes, child.parent == nullptr ? KnobValues{} : child.parent->order.proposal.knobs, child.origin,
                            child.parents);
  // Knobs that it has in common with its parent should help it as they helped there.
  if (order && child.parent != nullptr && !child.parent->order.proposal.knobs.empty())
    order->knob_gain = child.parent->order.knob_gain * static_cast<double>(order->proposal.knobs.size()) /
                       static_cast<double>(child.parent->order.proposal.knobs.size());
  return order;
}

// One kernel after the other, as if each had come out as expected: so that a batch does not try the same thing twice.
bool Evolve::ask_generation() {
  ++generation_;
  if (generation_ % kMigrationInterval == 0) migrate();
  Notebook expected = bench_.notebook();
  hope_ = 0;
  for (int slot = 0; slot < bench_.context().batch; ++slot) {
    const int island = turn_++ % static_cast<int>(islands_.size());
    const Population& population = islands_[static_cast<std::size_t>(island)];
    const Member* leader = population.empty() ? nullptr : &population.front();
    const double level = leader == nullptr ? 0 : leader->outcome.score.centre - leader->order.knob_gain;
    std::vector<Child> children = children_of(island);
    if (leader != nullptr)
      for (const Member* start : {leader, &tournament(population)})
        children.push_back({climbed(start->order.draft->claims, expected, level), "mutation", start, {start->outcome.index}});
    for (Child& child : children) {
      const Draft* draft = bench_.draft(child.genes);
      if (draft == nullptr) continue;
      child.improvement = expected.expected_improvement(draft->claims, level);
      child.worth = island % 2 == 0 ? child.improvement : expected.upper_bound(draft->claims, kCuriosity);
    }
    std::stable_sort(children.begin(), children.end(), [](const Child& a, const Child& b) { return a.worth > b.worth; });
    for (const Child& child : children) {
      auto order = order_of(child);
      if (!order) continue;
      order->proposal.island = island;
      order->proposal.generation = generation_;
      expected.note_speedup(order->draft->claims, expected.speedup(order->draft->claims));
      hope_ = std::max(hope_, child.improvement);
      orders_.push_back(std::move(*order));
      break;
    }
  }
  return !orders_.empty();
}

void Evolve::tell(const std::vector<Individual>& outcomes) {
  const int before = leading_island();
  const Score best = before < 0 ? Score{} : islands_[static_cast<std::size_t>(before)].front().outcome.score;
  bool gained = false;
  for (std::size_t i = 0; i < std::min(outcomes.size(), orders_.size()); ++i) {
    const Order& order = orders_[i];
    const Outcome outcome = bench_.note(order, outcomes[i]);
    if (tuning_orders_) {
      tuning_->tell(order, outcome);
      continue;
    }
    if (generation_ > 0) ++since_gain_, ++since_tuning_;
    if (!outcome.score.passed || outcome.duplicate) continue;
    gained |= beats(outcome.score, best);
    enter(islands_[static_cast<std::size_t>(order.proposal.island)], {order, outcome, 0, order.proposal.island});
  }
  if (gained) since_gain_ = restarts_without_gain_ = 0;
}

void Evolve::enter(Population& population, Member member) {
  const auto same = std::find_if(population.begin(), population.end(),
                                 [&](const Member& other) { return other.order.draft->claims == member.order.draft->claims; });
  if (same != population.end()) {
    if (member.outcome.score.centre <= same->outcome.score.centre) return;
    population.erase(same);
  }
  const auto place = std::find_if(population.begin(), population.end(),
                                  [&](const Member& other) { return member.outcome.score.centre > other.outcome.score.centre; });
  population.insert(place, std::move(member));
  if (population.size() > kPopulation) population.pop_back();
}

int Evolve::leading_island() const {
  int leading = -1;
  for (std::size_t i = 0; i < islands_.size(); ++i) {
    if (islands_[i].empty()) continue;
    if (leading < 0 ||
        islands_[i].front().outcome.score.centre > islands_[static_cast<std::size_t>(leading)].front().outcome.score.centre)
      leading = static_cast<int>(i);
  }
  return leading;
}

bool Evolve::tuning_is_due() const {
  const int leading = leading_island();
  if (tuning_ || !seeds_.empty() || leading < 0) return false;
  const Member& leader = islands_[static_cast<std::size_t>(leading)].front();
  if (leader.tunings > 0 || leader.order.draft->space.points() < 2) return false;
  return since_gain_ >= kStagnation || since_tuning_ >= kStructureStretch || hope_ < kLittleHope ||
         hope_of_changes(leader) < kMoreThanKnobs;
}

// What the best of single changes should bring.
double Evolve::hope_of_changes(const Member& leader) const {
  const double level = leader.outcome.score.centre - leader.order.knob_gain;
  double hope = 0;
  for (int gene = 0; gene < bench_.catalogue().size(); ++gene)
    hope = std::max(hope, bench_.notebook().expected_improvement(toggled(leader.order.draft->claims, gene), level));
  return hope;
}

void Evolve::begin_tuning(const Member& member, int glances) {
  ++tunings_;
  tuning_ =
      std::make_unique<TuningSession>(bench_, member.order, member.outcome, glances, Random(bench_.context().seed + tunings_));
}

// No structure pays any more: what budget is left goes into the knobs of the best, those that were tuned least first. False: they
// have been tuned enough, too.
bool Evolve::tune_further() {
  const Member* chosen = nullptr;
  for (const Population& population : islands_)
    for (std::size_t i = 0; i < std::min(population.size(), kTunedFurther); ++i) {
      const Member& member = population[i];
      const bool worth = member.tunings < kMostTunings && member.order.draft->space.points() > kMostGlances * member.tunings + 1;
      if (!worth) continue;
      if (chosen == nullptr || member.tunings < chosen->tunings ||
          (member.tunings == chosen->tunings && member.outcome.score.centre > chosen->outcome.score.centre))
        chosen = &member;
    }
  if (chosen == nullptr) return false;
  begin_tuning(*chosen, kMostGlances);
  return true;
}

// The leader, with what is known now of its speed, goes back to every island where it lives.
void Evolve::end_tuning() {
  const std::unique_ptr<TuningSession> tuning = std::move(tuning_);
  since_tuning_ = 0;
  const auto best = tuning->best();
  const Order& order = best ? *best : tuning->start();
  const Outcome& outcome = tuning->outcome_of(order.point);
  if (best) since_gain_ = restarts_without_gain_ = 0;
  for (Population& population : islands_)
    for (std::size_t i = 0; i < population.size(); ++i) {
      if (population[i].order.draft->claims != order.draft->claims) continue;
      Member member{order, outcome, population[i].tunings + 1, population[i].home};
      population.erase(population.begin() + static_cast<std::ptrdiff_t>(i));
      if (outcome.score.passed) enter(population, std::move(member));
      break;
    }
}

// A ring: the best of each island enters the next. It is known already, so nothing is evaluated again.
void Evolve::migrate() {
  if (islands_.size() < 2) return;
  std::vector<std::optional<Member>> best;
  for (const Population& population : islands_)
    best.push_back(population.empty() ? std::nullopt : std::optional(population.front()));
  for (std::size_t i = 0; i < islands_.size(); ++i)
    if (best[i]) {
      Member migrant = *best[i];
      migrant.order.proposal.origin = "migration";
      enter(islands_[(i + 1) % islands_.size()], std::move(migrant));
    }
}

// Nothing pays any more: every island keeps its leader and begins anew, with sets as they come. False: that has been tried often
// enough.
bool Evolve::diversify() {
  if (restarts_without_gain_ >= kRestartsWithoutGain || bench_.catalogue().size() == 0) return false;
  ++restarts_, ++restarts_without_gain_;
  for (Population& population : islands_) {
    if (population.size() > 1) population.erase(population.begin() + 1, population.end());
    seeds_.push_back({least_suspicious([&] { return sampled(); }), {}, "seed"});
    seeds_.push_back({least_suspicious([&] { return random_genes(bench_.catalogue(), random_); }), {}, "random"});
  }
  since_gain_ = 0;
  hope_ = 1;
  return true;
}

std::string Evolve::phase() const {
  if (tuning_) return "knobs";
  if (generation_ == 0) return "seeds";
  if (restarts_ > 0) return fmt::format("generation {}, restart {}", generation_, restarts_);
  return fmt::format("generation {}", generation_);
}

}  // namespace kw
