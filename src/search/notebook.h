// What a run believes about its strategies and how outcomes change that: log speedups as a sum of effects of single strategies and
// of pairs, all normally distributed (a Gaussian process over sets), and failures as suspicion. The same notes in the same
// order give the same beliefs.
#pragma once

#include <utility>
#include <vector>

#include "search/genes.h"

namespace kw {

// Of a logarithm: of a gain, or of a speedup.
struct Estimate {
  double mean = 0;
  double deviation = 0;
};

class Notebook {
 public:
  // Of each strategy in the catalogue: the logarithm of its gain, as far as known before the run.
  explicit Notebook(std::vector<Estimate> effects) : effects_(std::move(effects)) {}

  void note_speedup(const Genes& genes, Estimate log_speedup);
  void note_failure(const Genes& genes);
  // Claimed and not there: its promise counts for nothing from now on.
  void note_absence(int gene);

  [[nodiscard]] Estimate speedup(const Genes& genes) const;
  // What adding a strategy to a set should change.
  [[nodiscard]] double gain(const Genes& genes, int gene) const;
  // How likely such a kernel fails, by the failures so far: 0 to 1.
  [[nodiscard]] double risk(const Genes& genes) const;
  // By how much a kernel should beat `best`, chances of failure included.
  [[nodiscard]] double expected_improvement(const Genes& genes, double best) const;
  [[nodiscard]] double upper_bound(const Genes& genes, double deviations) const;

  [[nodiscard]] const std::vector<Estimate>& effects() const { return effects_; }
  [[nodiscard]] int size() const { return static_cast<int>(notes_.size()); }

 private:
  struct Note {
    Genes genes;
    Estimate value;
  };
  [[nodiscard]] double prior_mean(const Genes& genes) const;
  [[nodiscard]] double covariance(const Genes& a, const Genes& b) const;
  [[nodiscard]] std::vector<double> whitened(const Genes& genes) const;
  void append(const Note& note);
  void rebuild(const std::vector<Note>& notes);
  void suspect_again();

  std::vector<Estimate> effects_;
  std::vector<Note> notes_;
  std::vector<std::vector<double>> factor_;  // Cholesky factor of the notes' covariance, row by row
  std::vector<double> residuals_;            // the notes less their prior means, solved by the factor
  std::vector<Genes> passed_, failed_;
  std::vector<std::vector<Genes>> suspects_;  // of each failure
};

}  // namespace kw
