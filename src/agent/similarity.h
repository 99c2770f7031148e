// How alike two strategies are, by the words they are described with: no embeddings, no model. Used to refuse ideas that are
// there already under another name.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "record/strategy.h"

namespace kw {

// Above this two strategies are the same idea.
inline constexpr double kNearRepeat = 0.5;

// Words in small letters, without endings and without words that any sentence has.
std::vector<std::string> telling_words(std::string_view text);

// Words and pairs of neighbouring words.
std::set<std::string> shingles(std::string_view text);

// Shared over all: 0 nothing in common, 1 the same.
double jaccard(const std::set<std::string>& a, const std::set<std::string>& b);

// Over name, reason, evidence and knobs; the name weighs as much as the rest. The same lever brings two closer, another one apart.
double similarity(const Strategy& a, const Strategy& b);

struct Nearest {
  std::string id;  // empty: nothing to compare with
  double similarity = 0;
};
Nearest nearest_of(const Strategy& strategy, const std::vector<Strategy>& others);

}  // namespace kw
