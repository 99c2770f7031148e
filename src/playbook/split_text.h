// Puts the text of a problem of many layers together: one function for each distinct sub-problem, called at every place where it
// stands, and the memory between them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "playbook/kernel_text.h"
#include "playbook/split.h"

namespace kw {

class SplitText {
 public:
  SplitText(const ProblemDescription& problem, const Split& split);

  // `functions`: of the parts, in their order, in the namespaces part0, part1, ...
  [[nodiscard]] Kernel write(const std::vector<KernelFunction>& functions) const;

  static std::string name_of(std::size_t part);

 private:
  [[nodiscard]] std::string opening(const std::vector<KernelFunction>& functions) const;
  [[nodiscard]] std::string memory_text() const;
  [[nodiscard]] std::string prepare_text(const std::vector<KernelFunction>& functions) const;
  [[nodiscard]] std::string kernel_text(const std::vector<KernelFunction>& functions) const;
  [[nodiscard]] std::string argument(const Operand& operand) const;

  const ProblemDescription& problem_;
  const Split& split_;
  BetweenPlaces between_;
  std::map<std::string, std::string> names_;  // of values between places, by node; of tensors, by name
};

}  // namespace kw
