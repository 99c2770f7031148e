#include "search/tuner.h"

#include <algorithm>

#include "strategy/random.h"

namespace kw {

namespace {
constexpr double kFailedGain = -1;     // what a point that fails counts as, in the memory
constexpr double kEnumerated = 4096;   // points that are looked at one by one
constexpr std::size_t kSurvivors = 3;  // at most, of the glances
constexpr int kSmallSpace = 3;         // up to here a glance saves nothing
constexpr int kRandomDraws = 6;        // of which the memory's favourite is tried
}  // namespace

void KnobMemory::note(const KnobSpace& space, const KnobPoint& from, const KnobPoint& to, double gain) {
  int turned = 0;
  for (std::size_t k = 0; k < to.size(); ++k) turned += from[k] != to[k] ? 1 : 0;
  for (std::size_t k = 0; k < to.size(); ++k) {
    if (from[k] == to[k]) continue;
    const Knob& knob = space.knobs()[k];
    for (const auto& [position, sign] : {std::pair(to[k], 0.5), std::pair(from[k], -0.5)}) {
      Effect& effect = effects_[{knob.name, knob.values[static_cast<std::size_t>(position)]}];
      effect.sum += sign * gain / turned;
      ++effect.count;
    }
  }
}

double KnobMemory::hint(const KnobSpace& space, const KnobPoint& from, const KnobPoint& to) const {
  double gain = 0;
  for (std::size_t k = 0; k < to.size(); ++k) {
    if (from[k] == to[k]) continue;
    const Knob& knob = space.knobs()[k];
    const auto effect = [&](int position) {
      const auto found = effects_.find({knob.name, knob.values[static_cast<std::size_t>(position)]});
      return found == effects_.end() ? 0.0 : found->second.mean();
    };
    gain += effect(to[k]) - effect(from[k]);
  }
  return gain;
}

Tuner::Tuner(KnobSpace space, KnobPoint start, Score start_score, int glances, KnobMemory& memory, Random random)
    : space_(std::move(space)),
      start_(std::move(start)),
      centre_(start_),
      best_(start_),
      glances_left_(glances),
      memory_(memory),
      random_(random) {
  tried_[start_] = {1, start_score};
  if (const auto all = space_.all(kEnumerated)) {
    small_ = static_cast<int>(all->size()) - 1 <= kSmallSpace;
    glances_left_ = std::min(glances_left_, static_cast<int>(all->size()) - 1);
  }
}

std::optional<KnobPoint> Tuner::promising(const std::vector<KnobPoint>& points) const {
  std::optional<KnobPoint> chosen;
  double best = 0;
  for (const KnobPoint& point : points) {
    if (tried_.contains(point) || std::find(asked_.begin(), asked_.end(), point) != asked_.end()) continue;
    const double hint = memory_.hint(space_, centre_, point);
    if (!chosen || hint > best) {
      chosen = point;
      best = hint;
    }
  }
  return chosen;
}

std::optional<KnobPoint> Tuner::next_glance() {
  // Every third point is drawn at random, from far away too: steps alone stay on the hill where they began.
  const bool far = glances_made_ % 3 == 2;
  if (!far)
    if (auto near = promising(space_.neighbours(centre_))) return near;
  std::vector<KnobPoint> drawn;
  for (int i = 0; i < kRandomDraws; ++i)
    if (auto point = space_.random([&](int n) { return random_.below(n); })) drawn.push_back(std::move(*point));
  if (auto point = promising(drawn)) return point;
  if (auto near = promising(space_.neighbours(centre_))) return near;
  if (const auto all = space_.all(kEnumerated)) return promising(*all);
  return std::nullopt;
}

std::vector<KnobTrial> Tuner::ask(int most) {
  std::vector<KnobTrial> trials;
  while (stage_ == Stage::glance && static_cast<int>(trials.size()) < most && glances_left_ > 0) {
    auto point = next_glance();
    if (!point) {
      glances_left_ = 0;
      break;
    }
    asked_.push_back(*point);
    trials.push_back({std::move(*point), small_ ? 1 : 0});
    --glances_left_;
    ++glances_made_;
  }
  if (trials.empty() && asked_.empty()) trials = next_stage();
  if (static_cast<int>(trials.size()) > most) trials.resize(static_cast<std::size_t>(most));
  return trials;
}

std::vector<KnobPoint> Tuner::survivors() const {
  std::vector<std::pair<double, KnobPoint>> ahead;
  const Score& start = tried_.at(start_).score;
  for (const auto& [point, tried] : tried_)
    if (point != start_ && tried.score.passed && (!start.passed || tried.score.centre > start.centre))
      ahead.emplace_back(-tried.score.centre, point);
  std::sort(ahead.begin(), ahead.end());
  const std::size_t quarter = (tried_.size() + 3) / 4;
  ahead.resize(std::min({ahead.size(), quarter, kSurvivors}));
  std::vector<KnobPoint> points;
  for (auto& [centre, point] : ahead) points.push_back(std::move(point));
  return points;
}

std::vector<KnobTrial> Tuner::next_stage() {
  std::vector<KnobTrial> trials;
  if (stage_ == Stage::glance) {
    stage_ = Stage::again;
    finalists_ = survivors();
  }
  if (stage_ == Stage::again) {
    for (const KnobPoint& point : finalists_)
      if (tried_.at(point).effort < 1) trials.push_back({point, 1});
    if (!trials.empty()) return trials;
    stage_ = Stage::confirm;
    std::stable_sort(finalists_.begin(), finalists_.end(), [&](const KnobPoint& a, const KnobPoint& b) {
      return beats(tried_.at(a).score, tried_.at(b).score) ||
             (tried_.at(a).score.passed && tried_.at(b).score.passed && tried_.at(a).score.centre > tried_.at(b).score.centre);
    });
    const bool ahead = !finalists_.empty() && tried_.at(finalists_.front()).score.passed &&
                       tried_.at(finalists_.front()).score.centre > tried_.at(start_).score.centre;
    if (!ahead && !finalists_.empty() && tried_.at(start_).score.passed) finalists_.clear();
  }
  if (stage_ == Stage::confirm) {
    if (!finalists_.empty())
      for (const KnobPoint* point : {&finalists_.front(), &start_})
        if (tried_.at(*point).effort < 2) trials.push_back({*point, 2});
    if (!trials.empty()) return trials;
    settle();
  }
  return trials;
}

void Tuner::settle() {
  stage_ = Stage::done;
  if (!finalists_.empty() && beats(tried_.at(finalists_.front()).score, tried_.at(start_).score)) best_ = finalists_.front();
}

void Tuner::tell(const KnobTrial& trial, const Score& score) {
  std::erase(asked_, trial.point);
  Tried& tried = tried_[trial.point];
  const bool first = tried.effort == 0 && trial.point != start_ && !tried.score.passed;
  tried = {std::max(trial.effort, tried.effort), score};
  const Score& start = tried_.at(start_).score;
  if (first && start.passed) memory_.note(space_, start_, trial.point, score.passed ? score.centre - start.centre : kFailedGain);
  if (stage_ == Stage::glance && score.passed && beats(score, tried_.at(centre_).score)) centre_ = trial.point;
}

}  // namespace kw
