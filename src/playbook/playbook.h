// The embedded coder: reads a problem's graph and writes complete kernels that realise strategies. It reads shapes and operations,
// never names or files, and it runs nothing.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "playbook/split.h"
#include "playbook/stage.h"
#include "record/kernel.h"
#include "record/problem.h"
#include "record/run.h"
#include "record/strategy.h"

namespace kw {

class Playbook {
 public:
  // Error (bad_input): names the operations that it does not know, and where they are.
  static Result<Playbook> read(const ProblemDescription& problem, const MachineFacts& machine);

  // What conditions of strategies are written over; the README lists them.
  [[nodiscard]] const Features& features() const;

  // The kernel that realises what it can of these strategies; its claims are what it really does. {}: the plain kernel, one thread,
  // scalar, every operation a loop of its own.
  // A problem of many layers is written as the functions of its parts, each with these strategies.
  [[nodiscard]] Result<Kernel> write(const std::vector<std::string>& strategies) const;

  // The parts of a problem of many layers; no places: it is written as a whole.
  [[nodiscard]] const Split& split() const;
  [[nodiscard]] const Features& part_features(std::size_t part) const;
  // The kernel in which every part is computed as chosen for it, in any order; a part without a choice is plain.
  [[nodiscard]] Result<Kernel> assemble(const std::vector<PartChoice>& choices) const;

 private:
  struct State;
  static Result<Playbook> read_unlimited(const ProblemDescription& problem, const MachineFacts& machine);
  [[nodiscard]] Result<Kernel> assemble_unlimited(const std::vector<PartChoice>& choices) const;
  std::shared_ptr<const State> state_;
};

}  // namespace kw
