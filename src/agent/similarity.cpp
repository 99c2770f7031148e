#include "agent/similarity.h"

#include <algorithm>

namespace kw {
namespace {

bool says_nothing(const std::string& word) {
  static const std::set<std::string> kCommon{
      "a",    "an",   "and",    "as",   "at",   "be",      "by",     "can", "each",  "for",  "from",  "has",
      "have", "in",   "into",   "is",   "it",   "its",     "of",     "on",  "one",   "or",   "so",    "than",
      "that", "the",  "them",   "then", "they", "this",    "to",     "use", "using", "when", "where", "which",
      "with", "will", "kernel", "code", "more", "instead", "rather", "per", "every", "all"};
  return kCommon.contains(word);
}

// Plurals and tenses are the same word.
std::string stem(std::string word) {
  for (const std::string_view ending :
       {"isation", "ization", "ising", "izing", "ised", "ized", "ise", "ize", "ing", "ies", "es", "ed", "s"})
    if (word.size() > ending.size() + 3 && word.ends_with(ending)) return word.substr(0, word.size() - ending.size());
  return word;
}

std::string rest_of(const Strategy& strategy) {
  std::string text = strategy.why + " " + strategy.applies;
  for (const EvidenceCheck& check : strategy.evidence) text += " " + check.pattern;
  for (const auto& [name, values] : strategy.knobs) text += " " + name;
  return text;
}

}  // namespace

std::vector<std::string> telling_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto finish = [&] {
    if (word.size() > 1 && !says_nothing(word)) words.push_back(stem(word));
    word.clear();
  };
  for (const char c : text) {
    if (c >= 'A' && c <= 'Z')
      word += static_cast<char>(c - 'A' + 'a');
    else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
      word += c;
    else
      finish();
  }
  finish();
  return words;
}

std::set<std::string> shingles(std::string_view text) {
  const auto words = telling_words(text);
  std::set<std::string> found(words.begin(), words.end());
  for (std::size_t i = 1; i < words.size(); ++i) found.insert(words[i - 1] + " " + words[i]);
  return found;
}

double jaccard(const std::set<std::string>& a, const std::set<std::string>& b) {
  if (a.empty() && b.empty()) return 1;
  std::size_t shared = 0;
  for (const std::string& each : a) shared += b.count(each);
  return static_cast<double>(shared) / static_cast<double>(a.size() + b.size() - shared);
}

double similarity(const Strategy& a, const Strategy& b) {
  if (a.target != b.target) return 0;  // told in the same words, it is another thing on another machine
  const double names = jaccard(shingles(a.name), shingles(b.name));
  const double rest = jaccard(shingles(rest_of(a)), shingles(rest_of(b)));
  // A name that says the same is the same idea even where the reasons are told in other words.
  const double words = std::max(names, (names + rest) / 2);
  return std::clamp(words * (a.lever == b.lever ? 1.1 : 0.8), 0.0, 1.0);
}

Nearest nearest_of(const Strategy& strategy, const std::vector<Strategy>& others) {
  Nearest nearest;
  for (const Strategy& other : others)
    if (const double alike = similarity(strategy, other); nearest.id.empty() || alike > nearest.similarity)
      nearest = {other.id, alike};
  return nearest;
}

}  // namespace kw
