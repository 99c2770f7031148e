// Whose turn it is, by what each author has earned so far: the upper bound of its mean reward. The same rewards in the same order
// always give the same turns.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "search/score.h"

namespace kw {

// What a kernel is worth to whoever wrote it: 1 if it beats the best so far, a little if it passes and is new.
double reward_of(const Individual& individual, const Score& best_before);

class AuthorBandit {
 public:
  void earned(const std::string& author, double reward);
  // Authors who have not had a turn come first, in this order.
  [[nodiscard]] std::string choose(const std::vector<std::string>& authors) const;
  [[nodiscard]] int turns(const std::string& author) const;
  [[nodiscard]] double mean(const std::string& author) const;

 private:
  struct Earned {
    int turns = 0;
    double sum = 0;
  };
  std::map<std::string, Earned> earned_;
};

}  // namespace kw
