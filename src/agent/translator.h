// The translator: strategies, and a parent kernel or none, become one complete kernel.
#pragma once

#include <optional>

#include "agent/brief.h"
#include "agent/desk.h"

namespace kw {

struct Translation {
  std::vector<Strategy> strategies;    // to realise; none: the simplest kernel that is right
  const Individual* parent = nullptr;  // to start from
  std::vector<std::string> findings;   // of the parent's profile; empty while they are withheld
  const Individual* failed = nullptr;  // an earlier attempt at the same, for which this is a new one
  std::optional<std::uint64_t> seed;
};

struct WrittenKernel {
  Kernel kernel;  // its author and claims are set; empty source where there is a fault
  std::optional<Fault> fault;
};

WrittenKernel translate(Desk& desk, const TaskBrief& brief, const Translation& task);

// The answer to a question that asks for one whole kernel with these claims.
WrittenKernel ask_for_kernel(Desk& desk, const TaskBrief& brief, Desk::Question question, const std::vector<std::string>& claims);

// A kernel of a model's text, with the knobs that it declares.
Kernel kernel_of_model(std::string source, const std::string& dsl, const std::vector<std::string>& claims,
                       const std::string& author);

// Values that every prompt about a problem may use.
PromptValues values_of(const TaskBrief& brief, const Library& library, bool compact);

}  // namespace kw
