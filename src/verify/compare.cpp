#include "verify/compare.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/work_limit.h"
#include "record/layout.h"
#include "verify/elements.h"

namespace kw {
namespace {

// Ratios and errors go into JSON, which has no infinity.
constexpr double kCap = 1e30;
double capped(double value) { return value < kCap ? value : kCap; }

// An error is small when it is below this share of the larger of its element and its neighbourhood's rms, and the output
// as a whole is near when its relative rms error is below the second.
constexpr double kSmallError = 0.05;
constexpr double kNearOutput = 0.02;
constexpr double kNearFew = 0.002;  // for outputs of at most kFew elements
constexpr std::int64_t kFew = 16;
constexpr std::int64_t kMany = 1024;
constexpr double kWidespread = 0.001;

// A neighbourhood's elements as doubles. The padding is zeros, which are right and add nothing to any sum.
struct Block {
  static constexpr std::int64_t kRoom = Neighbourhoods::kMost + 8;
  alignas(64) double kernel[kRoom];
  alignas(64) double reference[kRoom];
  alignas(64) double eager[kRoom];
  std::int64_t begin = 0;
  std::int64_t count = 0;
  std::int64_t finite = 0;  // elements that are compared as numbers
};

// Two doubles a register, on any machine that builds this; comparing them lane by lane keeps max and min in the
// vector unit without letting the compiler forget NaN.
using Lanes = double __attribute__((vector_size(16)));
constexpr std::int64_t kLanes = 2;
Lanes load(const double* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}
Lanes all(double value) { return Lanes{value, value}; }
Lanes max_of(Lanes a, Lanes b) { return a > b ? a : b; }
Lanes min_of(Lanes a, Lanes b) { return a < b ? a : b; }
Lanes size_of_lanes(Lanes a) { return max_of(a, -a); }
double sum(Lanes a) { return a[0] + a[1]; }
double max(Lanes a) { return std::max(a[0], a[1]); }

struct Tally {
  double max_error = 0;
  double max_error_eager = 0;
  double squares_error = 0;
  double squares_error_eager = 0;
  double squares_reference = 0;
  double worst = 0;            // of the tolerance
  double worst_granted = 0;    // of the tolerance that a few neighbourhoods are granted
  double worst_rare = 0;       // of the tolerance that one or two are granted
  std::int64_t exceeding = 0;  // neighbourhoods with errors beyond the tolerance
  double worst_relative = 0;   // of the wrong elements: error beside their surroundings
  std::int64_t wrong = 0;
  std::int64_t finite = 0;

  void merge(const Tally& other) {
    max_error = std::max(max_error, other.max_error);
    max_error_eager = std::max(max_error_eager, other.max_error_eager);
    squares_error += other.squares_error;
    squares_error_eager += other.squares_error_eager;
    squares_reference += other.squares_reference;
    worst = std::max(worst, other.worst);
    worst_granted = std::max(worst_granted, other.worst_granted);
    worst_rare = std::max(worst_rare, other.worst_rare);
    exceeding += other.exceeding;
    worst_relative = std::max(worst_relative, other.worst_relative);
    wrong += other.wrong;
    finite += other.finite;
  }
};

// What eager errs by in neighbourhoods.
struct UsualNoise {
  double typical = 0;    // beside the largest value there: the median over neighbourhoods
  double high = 0;       // the same: what all but one in twenty stay below
  double absolute = 0;   // as it is: the median of those where eager errs at all
  double nothing = 0;    // a reference up to here is nothing but what float64 leaves of numbers that cancel
  double cancelled = 0;  // as it is, where the reference is nothing and eager errs: what all but one in twenty stay below
};
constexpr double kHighShare = 0.95;
constexpr double kGrantedShare = 0.05;  // of the neighbourhoods
constexpr double kRareShare = 0.002;    // of the neighbourhoods; one at least, where there are kSome
constexpr std::int64_t kSome = 20;
// What float64 leaves of numbers that cancel, beside what float32 does: 2^-29 and some room.
constexpr double kCancelledShare = 0x1p-26;

double percentile(std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

// Runs body(part) for the parts 0..count-1 on several threads. Results are kept by part, so that they do not depend on
// which thread came first. Where the work has to end, what is left of it is left out: check_outputs() drops such a result.
void for_each_part(std::int64_t count, int threads, const std::function<void(std::int64_t)>& body) {
  std::atomic<std::int64_t> next{0};
  const auto work = [&, ours = WorkLimit::current()] {
    const WorkLimit limit(ours);
    for (auto part = next.fetch_add(1); part < count && !work_must_end(); part = next.fetch_add(1)) body(part);
  };
  std::vector<std::thread> others;
  try {
    for (int i = 1; i < threads && i < count; ++i) others.emplace_back(work);
  } catch (const std::system_error&) {
    // No more threads to be had: this one does the work.
  }
  work();
  for (auto& other : others) other.join();
}

class Comparison {
 public:
  explicit Comparison(const CompareInput& input) : input_(input), neighbourhoods_(input.shape), elements_(input.numel()) {
    parts_ = std::clamp<std::int64_t>(elements_ / 65536, 1, 64);
    const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    threads_ = input.threads > 0 ? input.threads : std::min(cores, 16);
  }

  CompareOutcome run() {
    const bool floating = is_floating(input_.dtype);
    outcome_.variation = floating ? standard_deviation() : 0;
    if (floating) usual_ = usual_noise();
    std::vector<Tally> tallies(static_cast<std::size_t>(parts_));
    for_each_part(parts_, threads_, [&](std::int64_t part) {
      auto& tally = tallies[static_cast<std::size_t>(part)];
      if (floating)
        compare_floats(part, tally);
      else
        compare_integers(part, tally);
    });
    Tally total;
    for (const auto& tally : tallies) total.merge(tally);
    if (input_.ties) refuse_repeated(total);
    conclude(total);
    return std::move(outcome_);
  }

 private:
  void for_each_neighbourhood(std::int64_t part, const std::function<void(Neighbourhoods::Range)>& body) const {
    const auto count = neighbourhoods_.count();
    for (auto i = count * part / parts_; i < count * (part + 1) / parts_; ++i) body(neighbourhoods_.range(i));
  }

  [[nodiscard]] double standard_deviation() const {
    std::vector<Moments> moments(static_cast<std::size_t>(parts_));
    for_each_part(parts_, threads_, [&](std::int64_t part) {
      double values[Neighbourhoods::kMost + kLanes];
      for_each_neighbourhood(
          part, [&](Neighbourhoods::Range range) { moments[static_cast<std::size_t>(part)].merge(moments_of(range, values)); });
    });
    Moments total;
    for (const auto& part : moments) total.merge(part);
    return total.standard_deviation();
  }

  // Of all neighbourhoods, of which some thousand are looked at.
  [[nodiscard]] UsualNoise usual_noise() const {
    constexpr std::int64_t kLookedAt = 1024;
    const auto count = neighbourhoods_.count();
    const auto looked_at = std::min(count, kLookedAt);
    std::vector<std::pair<double, double>> seen;  // noise and largest value
    double reference[Neighbourhoods::kMost], eager[Neighbourhoods::kMost];
    for (std::int64_t i = 0; i < looked_at; ++i) {
      const auto range = neighbourhoods_.range(count * i / looked_at);
      elements_as_doubles(input_.reference, input_.reference_dtype, range.begin, range.end - range.begin, reference);
      elements_as_doubles(input_.eager, input_.eager_dtype, range.begin, range.end - range.begin, eager);
      double noise = 0, largest = 0;
      for (std::int64_t k = 0; k < range.end - range.begin; ++k) {
        if (!std::isfinite(reference[k]) || !std::isfinite(eager[k])) continue;
        noise = std::max(noise, std::fabs(eager[k] - reference[k]));
        largest = std::max(largest, std::fabs(reference[k]));
      }
      seen.emplace_back(noise, largest);
    }
    UsualNoise usual;
    std::vector<double> errors, shares, of_nothing;
    for (const auto& [noise, largest] : seen)
      if (noise > 0) errors.push_back(noise);
    usual.absolute = percentile(errors, 0.5);
    usual.nothing = kCancelledShare * usual.absolute;
    for (const auto& [noise, largest] : seen) {
      const bool is_nothing = largest <= usual.nothing;
      if (is_nothing && noise > 0) of_nothing.push_back(noise);
      if (!is_nothing || noise <= 0) shares.push_back(largest > 0 ? noise / largest : 0);
    }
    usual.cancelled = percentile(of_nothing, kHighShare);
    usual.typical = percentile(shares, 0.5);
    usual.high = percentile(shares, kHighShare);
    return usual;
  }

  [[nodiscard]] Moments moments_of(Neighbourhoods::Range range, double* values) const {
    auto count = range.end - range.begin;
    elements_as_doubles(input_.reference, input_.reference_dtype, range.begin, count, values);
    values[count] = 0;
    const auto total_of = [&] {
      Lanes total = all(0);
      for (std::int64_t i = 0; i < count; i += kLanes) total += load(values + i);
      return sum(total);
    };
    double total = total_of();
    if (!std::isfinite(total)) {
      count = std::remove_if(values, values + count, [](double value) { return !std::isfinite(value); }) - values;
      values[count] = 0;
      total = total_of();
    }
    if (count == 0) return {};
    Moments moments{static_cast<double>(count), total / static_cast<double>(count), 0};
    values[count] = moments.mean;
    Lanes squares = all(0);
    for (std::int64_t i = 0; i < count; i += kLanes) {
      const Lanes distance = load(values + i) - moments.mean;
      squares += distance * distance;
    }
    moments.squares = sum(squares);
    return moments;
  }

  void compare_floats(std::int64_t part, Tally& tally) {
    auto block = std::make_unique<Block>();
    for_each_neighbourhood(part, [&](Neighbourhoods::Range range) { compare_block(range, *block, tally); });
  }

  void compare_block(Neighbourhoods::Range range, Block& block, Tally& tally) {
    block.begin = range.begin;
    block.count = block.finite = range.end - range.begin;
    elements_as_doubles(input_.kernel, input_.dtype, block.begin, block.count, block.kernel);
    elements_as_doubles(input_.reference, input_.reference_dtype, block.begin, block.count, block.reference);
    elements_as_doubles(input_.eager, input_.eager_dtype, block.begin, block.count, block.eager);
    if (input_.flushed) take_flushing_off(block);
    for (auto i = block.count; i < block.count + kLanes; ++i) block.kernel[i] = block.reference[i] = block.eager[i] = 0;

    Lanes any = all(0);
    for (std::int64_t i = 0; i < block.count; i += kLanes)
      any += load(block.kernel + i) + load(block.reference + i) + load(block.eager + i);
    if (!std::isfinite(sum(any))) settle_nonfinite(block, tally);
    compare_finite(block, tally);
  }

  // Decides the elements where something is not finite and leaves zeros there, which compare_finite passes over.
  void settle_nonfinite(Block& block, Tally& tally) {
    const auto same = [](double a, double b) { return (std::isnan(a) && std::isnan(b)) || a == b; };
    std::vector<std::int64_t> wrong;
    for (std::int64_t i = 0; i < block.count; ++i) {
      double& k = block.kernel[i];
      double& r = block.reference[i];
      double& e = block.eager[i];
      if (std::isfinite(k) && std::isfinite(r)) {
        if (!std::isfinite(e)) e = r;  // eager overflowed: nothing is known of its error here
        continue;
      }
      if (std::isfinite(k) && std::isfinite(e)) {
        r = e;  // float64 has no number here but eager does
        continue;
      }
      // A NaN that nobody wrote is wrong even where a NaN is due.
      const bool written = !std::isnan(k) || !is_poison(input_.kernel, input_.dtype, block.begin + i);
      const bool right = written && !std::isfinite(k) && (same(k, r) || same(k, e));
      if (!right) wrong.push_back(block.begin + i);
      k = r = e = 0;
      --block.finite;
    }
    if (wrong.empty()) return;
    tally.wrong += static_cast<std::int64_t>(wrong.size());
    tally.worst = tally.worst_granted = tally.worst_rare = tally.worst_relative = kCap;
    mark(wrong);
  }

  void compare_finite(const Block& block, Tally& tally) {
    Lanes noise = all(0), size_of_largest = all(0), squares = all(0), squares_eager = all(0);
    for (std::int64_t i = 0; i < block.count; i += kLanes) {
      const Lanes r = load(block.reference + i);
      const Lanes distance = load(block.eager + i) - r;
      noise = max_of(noise, size_of_lanes(distance));
      size_of_largest = max_of(size_of_largest, size_of_lanes(r));
      squares += r * r;
      squares_eager += distance * distance;
    }
    NoiseFloor floor;
    const double eager_error = std::isfinite(max(noise)) ? max(noise) : 0;
    floor.noise = std::max({eager_error, usual_.typical * max(size_of_largest), nearby_noise(block)});
    if (max(size_of_largest) <= usual_.nothing) floor.noise = std::max(floor.noise, usual_.cancelled);
    floor.variation = outcome_.variation;
    floor.rms = block.finite > 0 ? std::sqrt(sum(squares) / static_cast<double>(block.finite)) : 0;
    if (!std::isfinite(floor.rms)) floor.rms = 0;  // squares beyond float64: each element's own size has to do

    const auto& rule = input_.rule;
    const Lanes rounding = all(rule.rounding_multiple * rule.epsilon);
    const Lanes spread = all(rule.variation_share * floor.variation);
    const Lanes own = all(rule.variation_rounding * rule.epsilon);
    const Lanes room = all(rule.noise_multiple * rule.noise_scale * floor.noise);
    Lanes worst = all(0), largest = all(0), squares_error = all(0);
    for (std::int64_t i = 0; i < block.count; i += kLanes) {
      const Lanes r = load(block.reference + i);
      const Lanes error = size_of_lanes(load(block.kernel + i) - r);
      const Lanes size = size_of_lanes(r);
      const Lanes near = min_of(rounding * max_of(size, all(floor.rms)), max_of(spread, own * size));
      const Lanes tolerance = max_of(room, near) + rule.tiny;
      worst = max_of(worst, error / tolerance);
      largest = max_of(largest, error);
      squares_error += error * error;
    }
    tally.max_error = std::max(tally.max_error, max(largest));
    tally.max_error_eager = std::max(tally.max_error_eager, eager_error);
    tally.squares_error += sum(squares_error);
    tally.squares_error_eager += sum(squares_eager);
    tally.squares_reference += sum(squares);
    tally.worst = std::max(tally.worst, capped(max(worst)));
    tally.finite += block.finite;
    const double of_tolerance = capped(max(worst));
    if (of_tolerance <= 1) {
      tally.worst_granted = std::max(tally.worst_granted, of_tolerance);
      tally.worst_rare = std::max(tally.worst_rare, of_tolerance);
      return;
    }
    record_wrong(block, floor, tally);
    floor.noise = std::max(floor.noise, usual_.high * max(size_of_largest));
    ++tally.exceeding;
    tally.worst_granted = std::max(tally.worst_granted, of_tolerance_beside(block, floor));
    floor.noise = std::max(floor.noise, usual_.absolute);
    tally.worst_rare = std::max(tally.worst_rare, of_tolerance_beside(block, floor));
  }

  // Whatever lies between the reference and what flushed inputs give is right.
  void take_flushing_off(Block& block) const {
    for (std::int64_t i = 0; i < block.count; ++i) {
      const double far = input_.flushed[block.begin + i], off = block.kernel[i] - block.reference[i];
      if (far != 0 && std::isfinite(off)) block.kernel[i] -= std::clamp(off, std::min(far, 0.0), std::max(far, 0.0));
    }
  }

  [[nodiscard]] double nearby_noise(const Block& block) const {
    if (!input_.nearby || block.count == 0) return 0;
    return *std::max_element(input_.nearby + block.begin, input_.nearby + block.begin + block.count);
  }

  void record_wrong(const Block& block, const NoiseFloor& floor, Tally& tally) {
    std::vector<std::int64_t> wrong;
    for (std::int64_t i = 0; i < block.count; ++i) {
      const double r = block.reference[i];
      const double error = std::fabs(block.kernel[i] - r);
      if (!(error > tolerance_from_noise_floor(input_.rule, floor, r))) continue;
      wrong.push_back(block.begin + i);
      const double beside = std::max(floor.rms, std::fabs(r));
      tally.worst_relative = std::max(tally.worst_relative, beside > 0 ? capped(error / beside) : kCap);
    }
    tally.wrong += static_cast<std::int64_t>(wrong.size());
    mark(wrong);
  }

  // How the same errors stand beside a tolerance that follows what eager errs by elsewhere.
  [[nodiscard]] double of_tolerance_beside(const Block& block, const NoiseFloor& floor) const {
    double worst = 0;
    for (std::int64_t i = 0; i < block.count; ++i) {
      const double r = block.reference[i];
      const double error = std::fabs(block.kernel[i] - r);
      worst = std::max(worst, capped(error / tolerance_from_noise_floor(input_.rule, floor, r)));
    }
    return worst;
  }

  void compare_integers(std::int64_t part, Tally& tally) {
    for_each_neighbourhood(part, [&](Neighbourhoods::Range range) {
      tally.finite += range.end - range.begin;
      double values[Neighbourhoods::kMost];
      elements_as_doubles(input_.reference, input_.reference_dtype, range.begin, range.end - range.begin, values);
      for (std::int64_t i = 0; i < range.end - range.begin; ++i) tally.squares_reference += values[i] * values[i];
      if (same_bytes(range, input_.kernel, input_.dtype) && same_bytes(range, input_.eager, input_.eager_dtype)) return;
      compare_differing_integers(range, tally);
    });
  }

  [[nodiscard]] bool same_bytes(Neighbourhoods::Range range, const void* data, DType dtype) const {
    const auto size = static_cast<std::int64_t>(size_of(dtype));
    const auto at = [&](const void* from) { return static_cast<const std::byte*>(from) + range.begin * size; };
    return dtype == input_.reference_dtype &&
           std::memcmp(at(data), at(input_.reference), static_cast<std::size_t>((range.end - range.begin) * size)) == 0;
  }

  void compare_differing_integers(Neighbourhoods::Range range, Tally& tally) {
    std::vector<std::int64_t> wrong;
    for (auto i = range.begin; i < range.end; ++i) {
      const auto k = element_as_integer(input_.kernel, input_.dtype, i);
      const auto r = element_as_integer(input_.reference, input_.reference_dtype, i);
      const auto e = element_as_integer(input_.eager, input_.eager_dtype, i);
      const double error = std::fabs(static_cast<double>(k) - static_cast<double>(r));
      const double error_eager = std::fabs(static_cast<double>(e) - static_cast<double>(r));
      tally.squares_error += error * error;
      tally.squares_error_eager += error_eager * error_eager;
      tally.max_error = std::max(tally.max_error, error);
      tally.max_error_eager = std::max(tally.max_error_eager, error_eager);
      if (k != r && k != e && !(input_.ties && input_.ties->alike(i, k, r))) wrong.push_back(i);
    }
    if (wrong.empty()) return;
    tally.wrong += static_cast<std::int64_t>(wrong.size());
    tally.worst = tally.worst_granted = tally.worst_rare = tally.worst_relative = kCap;
    mark(wrong);
  }

  void refuse_repeated(Tally& tally) {
    std::vector<std::int64_t> wrong = input_.ties->repeated(input_.kernel, input_.dtype);
    std::erase_if(wrong, [&](std::int64_t i) { return outcome_.map.is_wrong(i); });
    if (wrong.empty()) return;
    tally.wrong += static_cast<std::int64_t>(wrong.size());
    tally.worst = tally.worst_granted = tally.worst_rare = tally.worst_relative = kCap;
    mark(wrong);
  }

  void mark(const std::vector<std::int64_t>& wrong) {
    std::call_once(map_started_, [&] { outcome_.map.start(elements_); });
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < wrong.size(); ++i) {
      bits |= std::uint64_t{1} << (wrong[i] & 63);
      if (i + 1 < wrong.size() && wrong[i + 1] >> 6 == wrong[i] >> 6) continue;
      outcome_.map.mark(wrong[i] >> 6, bits);
      bits = 0;
    }
  }

  void conclude(Tally total) {
    auto& error = outcome_.error;
    const auto count_of_all = neighbourhoods_.count();
    const auto share_of_all = [&](double share) { return static_cast<std::int64_t>(share * static_cast<double>(count_of_all)); };
    const auto forgive = [&](double worst, std::int64_t most) {
      if (total.wrong == 0 || worst > 1 || total.exceeding > most) return;
      total.wrong = 0;
      total.worst = worst;
      outcome_.map = {};
    };
    forgive(total.worst_granted, share_of_all(kGrantedShare));
    forgive(total.worst_rare, count_of_all < kSome ? 0 : std::max<std::int64_t>(1, share_of_all(kRareShare)));
    const double count = static_cast<double>(std::max<std::int64_t>(1, total.finite));
    const double rms_error = std::sqrt(total.squares_error / count);
    outcome_.reference_rms = std::sqrt(total.squares_reference / count);
    // Beside an all-zero reference the error itself is all there is to tell.
    const double beside = outcome_.reference_rms > 0 ? outcome_.reference_rms : 1;
    error.output = input_.name;
    error.max_error = total.max_error;
    error.max_error_eager = total.max_error_eager;
    error.rms_error = capped(rms_error / beside);
    error.rms_error_eager = capped(std::sqrt(total.squares_error_eager / count) / beside);
    error.worst_of_tolerance = total.worst;
    error.wrong_elements = total.wrong;
    error.elements = elements_;
    outcome_.right = total.wrong == 0;
    // Errors as large as the reference's own variation say that the kernel did not compute it, however small they are.
    // A low precision shows in many elements of many; and in one or two it has to be near indeed to be told from a mistake.
    const bool is_widespread =
        elements_ < kMany || static_cast<double>(total.wrong) >= kWidespread * static_cast<double>(elements_);
    const double near_output = elements_ <= kFew ? kNearFew : kNearOutput;
    outcome_.looks_imprecise = !outcome_.right && is_widespread && total.worst_relative < kSmallError &&
                               error.rms_error < near_output && rms_error < 0.5 * outcome_.variation;
  }

  const CompareInput& input_;
  Neighbourhoods neighbourhoods_;
  std::int64_t elements_;
  std::int64_t parts_ = 1;
  int threads_ = 1;
  UsualNoise usual_;
  std::once_flag map_started_;
  CompareOutcome outcome_;
};

}  // namespace

std::int64_t CompareInput::numel() const {
  std::int64_t count = 1;
  for (const auto extent : shape) count *= extent;
  return count;
}

Result<CompareInput> compare_input(const TensorSpec& output, const void* kernel, const void* reference, DType reference_dtype,
                                   const void* eager, DType eager_dtype, std::string_view precision) {
  KW_TRY(const double stated, stated_epsilon(precision));
  CompareInput input;
  input.name = output.name;
  input.kernel = kernel;
  input.dtype = output.dtype;
  input.reference = reference;
  input.reference_dtype = reference_dtype;
  input.eager = eager;
  input.eager_dtype = eager_dtype;
  input.dimensions = memory_order(output);
  for (const int dimension : input.dimensions) input.shape.push_back(output.shape[static_cast<std::size_t>(dimension)]);
  // Where a precision was stated, eager was run at it, and its error is the noise as it stands.
  input.rule = tolerance_rule(output.dtype, stated, stated > 0 ? 1 : noise_scale(output.dtype, eager_dtype));
  return input;
}

std::int64_t ErrorMap::count(std::int64_t begin, std::int64_t end) const {
  std::int64_t total = 0;
  for (auto i = begin; i < end && !bits_.empty();) {
    const auto stop = std::min(end, (i | 63) + 1);
    auto word = bits_[static_cast<std::size_t>(i >> 6)] >> (i & 63);
    if (stop - i < 64) word &= (std::uint64_t{1} << (stop - i)) - 1;
    total += std::popcount(word);
    i = stop;
  }
  return total;
}

std::int64_t ErrorMap::next(std::int64_t from) const {
  for (auto index = static_cast<std::size_t>(from >> 6); index < bits_.size(); ++index, from = 0) {
    const auto word = bits_[index] >> (from & 63) << (from & 63);
    if (word != 0) return static_cast<std::int64_t>(index * 64) + std::countr_zero(word);
  }
  return -1;
}

void ErrorMap::start(std::int64_t elements) { bits_.assign(static_cast<std::size_t>((elements + 63) / 64), 0); }

void ErrorMap::mark(std::int64_t word_index, std::uint64_t wrong) {
  std::atomic_ref(bits_[static_cast<std::size_t>(word_index)]).fetch_or(wrong, std::memory_order_relaxed);
}

CompareOutcome compare_output(const CompareInput& input) { return Comparison(input).run(); }

}  // namespace kw
