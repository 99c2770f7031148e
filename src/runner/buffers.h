// The runner's memory for a kernel's arguments: read-only inputs, poisoned outputs, and inaccessible guards around each.
#pragma once

#include <vector>

#include "runner/protocol.h"

namespace kw::runner {

class Buffers {
 public:
  static Result<Buffers> map(const Spec& spec, int data_descriptor);

  // The kernel's arguments, in order, for one slot of inputs and one of outputs.
  [[nodiscard]] std::vector<void*> arguments(int slot, int out_slot) const;
  void poison(int out_slot) const;

  // The first byte of an argument's region (not of its data).
  [[nodiscard]] char* region(std::size_t argument, int slot, int out_slot) const;

 private:
  explicit Buffers(const Spec& spec) : spec_(spec) {}
  Spec spec_;
  std::vector<char*> weights_;               // by argument; null for other roles
  std::vector<std::vector<char*>> inputs_;   // [slot][argument]
  std::vector<std::vector<char*>> outputs_;  // [out_slot][argument]
};

}  // namespace kw::runner
