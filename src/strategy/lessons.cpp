#include "strategy/lessons.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "strategy/pool.h"

namespace kw {
namespace {

constexpr double kOtherZone = 2;
constexpr double kRelatedClass = 100;  // more than any distance of features: their logarithms differ by some dozens at most
constexpr double kOtherClass = 200;

double logarithm(double feature) { return std::isfinite(feature) ? std::copysign(std::log1p(std::abs(feature)), feature) : 0; }

double class_distance(std::string_view a, std::string_view b) {
  if (main_class(a) == main_class(b)) return 0;
  // "matmul + softmax" and "softmax" share a part.
  const auto has_part = [](std::string_view whole, const std::string& part) {
    return (" + " + std::string(whole) + " + ").find(" + " + part + " + ") != std::string::npos;
  };
  return has_part(a, main_class(b)) || has_part(b, main_class(a)) ? kRelatedClass : kOtherClass;
}

}  // namespace

double feature_distance(const Features& a, const Features& b) {
  std::set<std::string> names;
  for (const Features* features : {&a, &b})
    for (const auto& [name, value] : *features)
      if (value != 0) names.insert(name);
  if (names.empty()) return 0;
  const auto value = [](const Features& features, const std::string& name) {
    const auto found = features.find(name);
    return found == features.end() ? 0.0 : found->second;
  };
  double sum = 0;
  for (const std::string& name : names) sum += std::abs(logarithm(value(a, name)) - logarithm(value(b, name)));
  return sum / static_cast<double>(names.size());
}

std::vector<SimilarLesson> similar(const std::vector<Lesson>& lessons, std::string_view workload_class, std::string_view zone,
                                   const Features& features) {
  std::vector<SimilarLesson> ranked;
  for (const Lesson& lesson : lessons)
    ranked.push_back({&lesson, class_distance(lesson.workload_class, workload_class) + (lesson.zone == zone ? 0 : kOtherZone) +
                                   feature_distance(lesson.features, features)});
  std::stable_sort(ranked.begin(), ranked.end(), [](const SimilarLesson& a, const SimilarLesson& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.lesson->gain > b.lesson->gain;
  });
  return ranked;
}

}  // namespace kw
