#include "strategy/random.h"

#include <cmath>

namespace kw {

std::uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

double Random::normal() {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += uniform();
  return sum;
}

std::uint64_t Random::below_unsigned(std::uint64_t limit) {
  const std::uint64_t uneven = (0 - limit) % limit;  // 2^64 mod limit: draws below it would favour small results
  std::uint64_t drawn = next();
  while (drawn < uneven) drawn = next();
  return drawn % limit;
}

bool Random::chance(double probability) { return uniform() < probability; }

std::size_t Random::weighted(std::span<const double> weights) {
  const auto usable = [](double weight) { return std::isfinite(weight) && weight > 0 ? weight : 0.0; };
  double total = 0;
  for (const double weight : weights) total += usable(weight);
  if (!(total > 0) || !std::isfinite(total)) return below(weights.size());
  double left = uniform() * total;
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (usable(weights[i]) == 0) continue;
    last = i;
    left -= weights[i];
    if (left < 0) return i;
  }
  return last;  // rounding used up the whole
}

Random Random::fork(std::uint64_t purpose) const {
  Random made(state_ ^ (purpose + 1) * 0xd1342543de82ef95U);
  made.next();
  return Random(made.next());
}

}  // namespace kw
