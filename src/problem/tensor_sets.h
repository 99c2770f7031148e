// Tensors on disk for one problem: draws of inputs, weights, references and eager's outputs that the oracle wrote.
// A draw is named by its seed; everything in it follows from that seed, so that a verdict can be repeated.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/cache.h"
#include "problem/problem_source.h"
#include "problem/safetensors.h"

namespace kw {

struct TensorSet {
  std::string distribution;  // as it was used; a tamer variant says so
  std::uint64_t seed = 0;
  bool fresh_weights = false;
  fs::path folder;
  SafetensorsFile inputs, weights, reference, eager;
  std::map<std::string, double> scalars{};
  std::vector<std::string> notes{};
  double nonfinite = 0;      // share of the reference that is NaN or infinite
  double eager_seconds = 0;  // one call, roughly: for deadlines, not for speedups
  std::uint64_t weights_seed = 0;
  bool seeded_weights = false;
  std::vector<std::string> known_weights{};  // of seeded ones: the same whatever the seed is
  std::optional<SafetensorsFile> flushed{};  // by output: where its elements go when subnormal inputs are taken for zeros
  std::optional<SafetensorsFile> ties{};     // what positions are judged by, where values tie (verify/tied_positions.h)
  CacheLease lease{};                        // nothing removes its folder meanwhile
};

// What is said of a set's weights: given, fresh or seeded.
std::string_view weights_of(const TensorSet& set);

// What a set is: which inputs with which weights.
struct SetKind {
  std::string distribution;
  bool fresh_weights = false;
  int variant = 0;  // sets of the same kind in one draw; those of one draw share their weights
  // As the module initialises them, but with drawn values in place of constants: for a ModelNew that makes its own.
  bool seeded_weights = false;
};

// The kinds that a verification goes through, the problem's own first.
const std::vector<SetKind>& verification_kinds();

class TensorStore {
 public:
  TensorStore(ProblemSource source, std::string precision) : source_(std::move(source)), precision_(std::move(precision)) {}

  [[nodiscard]] const ProblemSource& source() const { return source_; }

  // The seed of a draw to use: a cached one picked at random, or a new one when there is none or `fresh` is asked for.
  [[nodiscard]] std::uint64_t pick_draw(bool fresh) const;

  // A set of a draw, made by the oracle where it is not there yet. Damaged files are made again.
  Result<TensorSet> get(std::uint64_t draw, const SetKind& kind, OracleClient& oracle) const;

  // What eager errs by on inputs next to a set's, element by element: nearby.safetensors of its folder, made where it is not there
  // yet.
  Result<SafetensorsFile> nearby_noise(const TensorSet& set, OracleClient& oracle) const;

 private:
  ProblemSource source_;
  std::string precision_;
};

}  // namespace kw
