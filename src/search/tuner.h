// Sets the knobs of one kernel: steps along single knobs and random points at a glance, the best of them timed as usual, the
// finalist timed carefully beside the point where it began. It never changes the source and never leaves the allowed points.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "search/knob_space.h"
#include "search/score.h"
#include "strategy/random.h"

namespace kw {

// What turning single knobs gave in earlier tunings of the same run: which values to try first in the next.
class KnobMemory {
 public:
  // A point was better (above 0) or worse than another one, by this logarithm.
  void note(const KnobSpace& space, const KnobPoint& from, const KnobPoint& to, double gain);
  // What going from one point to another should give; 0 where nothing is known.
  [[nodiscard]] double hint(const KnobSpace& space, const KnobPoint& from, const KnobPoint& to) const;

 private:
  struct Effect {
    double sum = 0;
    int count = 0;
    [[nodiscard]] double mean() const { return count == 0 ? 0 : sum / (count + 1.0); }
  };
  std::map<std::pair<std::string, std::int64_t>, Effect> effects_;
};

struct KnobTrial {
  KnobPoint point;
  int effort = 0;
};

class Tuner {
 public:
  // `glances`: how many new points may be tried. `start_score`: how fast the kernel is at `start`, as timed with effort 1.
  Tuner(KnobSpace space, KnobPoint start, Score start_score, int glances, KnobMemory& memory, Random random);

  // At most this many; empty: done. Never a point that has been tried with the same effort.
  std::vector<KnobTrial> ask(int most);
  // The outcome of one of them.
  void tell(const KnobTrial& trial, const Score& score);

  [[nodiscard]] const KnobSpace& space() const { return space_; }
  [[nodiscard]] const KnobPoint& start() const { return start_; }
  // The start, unless a point has beaten it.
  [[nodiscard]] const KnobPoint& best() const { return best_; }
  [[nodiscard]] const Score& score_of(const KnobPoint& point) const { return tried_.at(point).score; }

 private:
  enum class Stage { glance, again, confirm, done };
  struct Tried {
    int effort = 0;
    Score score;
  };
  std::optional<KnobPoint> next_glance();
  [[nodiscard]] std::optional<KnobPoint> promising(const std::vector<KnobPoint>& points) const;
  std::vector<KnobTrial> next_stage();
  [[nodiscard]] std::vector<KnobPoint> survivors() const;
  void settle();

  KnobSpace space_;
  KnobPoint start_, centre_, best_;
  std::map<KnobPoint, Tried> tried_;
  std::vector<KnobPoint> asked_;  // and not yet told
  std::vector<KnobPoint> finalists_;
  int glances_left_ = 0, glances_made_ = 0;
  bool small_ = false;  // so few points that each is timed as usual
  Stage stage_ = Stage::glance;
  KnobMemory& memory_;
  Random random_;
};

}  // namespace kw
