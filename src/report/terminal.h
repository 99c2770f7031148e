// Records as text for a terminal. Read-only: it prints what the records say and computes no results.
#pragma once

#include <string>

#include "machine/roofline.h"
#include "problem/workload.h"
#include "record/evaluation.h"
#include "record/machine.h"
#include "record/problem.h"

namespace kw {

// Colours only where a person looks.
struct Paint {
  bool on = false;
  [[nodiscard]] std::string good(std::string_view text) const;
  [[nodiscard]] std::string bad(std::string_view text) const;
  [[nodiscard]] std::string faint(std::string_view text) const;
  [[nodiscard]] std::string strong(std::string_view text) const;
};

std::string text_of(const ProblemDescription& problem, const WorkloadClass& workload, const Machine& machine,
                    const Roofline& roofline, int threads, const std::string& declaration, const Paint& paint);
std::string text_of(const VerdictRecord& verdict, const Paint& paint);
std::string text_of(const TimingRecord& timing, const Paint& paint);
std::string text_of(const EstimateRecord& estimate, const Paint& paint);

}  // namespace kw
