// Random numbers that are the same for a seed on every platform and compiler, unlike those of the standard's distributions.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>

namespace kw {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next();  // 64 random bits (SplitMix64)
  double uniform();      // in [0, 1)
  double normal();       // mean 0, deviation 1, never beyond 6: a sum of twelve uniforms needs no libm, which differs by platform
  // 0 .. limit - 1, each as likely; 0 for a limit that is not positive.
  template <std::integral T>
  T below(T limit) {
    return limit > 0 ? static_cast<T>(below_unsigned(static_cast<std::uint64_t>(limit))) : T{0};
  }
  bool chance(double probability);  // true this often
  std::size_t weighted(
      std::span<const double> weights);  // an index; weights that are no positive number count as 0, all 0: as likely

  // A generator of its own for each purpose: what one draws does not move the other.
  [[nodiscard]] Random fork(std::uint64_t purpose) const;
  [[nodiscard]] std::uint64_t state() const { return state_; }  // a Random made from it goes on where this one is

 private:
  std::uint64_t below_unsigned(std::uint64_t limit);

  std::uint64_t state_;
};

}  // namespace kw
