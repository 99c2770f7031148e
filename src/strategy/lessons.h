// Lessons of earlier runs that a new one can start from: those on problems that are most like it.
#pragma once

#include <string_view>
#include <vector>

#include "record/run.h"

namespace kw {

struct SimilarLesson {
  const Lesson* lesson = nullptr;
  double distance = 0;  // 0: the same class, zone and features
};

// How far apart two problems are: the mean distance of the logarithms of their features. Features that neither has do not count.
double feature_distance(const Features& a, const Features& b);

// Nearest first; a lesson of another workload class comes after all of the same one, and the zone weighs like features that differ
// by a factor of about seven. Among equals the larger gain comes first. The lessons must outlive the result.
std::vector<SimilarLesson> similar(const std::vector<Lesson>& lessons, std::string_view workload_class, std::string_view zone,
                                   const Features& features);

}  // namespace kw
