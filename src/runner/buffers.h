// The runner's memory for a kernel's arguments: read-only inputs, poisoned outputs, and inaccessible guards around each. There is
// one place for inputs, where one set after the other is shown; until the first there are zeros.
#pragma once

#include <vector>

#include "runner/protocol.h"

namespace kw::runner {

// Memory that a file may be shown in, read-only and shared.
struct Place {
  void* address;
  std::uint64_t bytes;
  std::uint64_t offset;  // in the file
};

class Buffers {
 public:
  static Result<Buffers> map(const Spec& spec, int data_descriptor);

  // Shows a set of inputs in place of the one before; its pages are there when this returns.
  Status bring(int inputs_descriptor) const;
  // Takes the set away again.
  Status take_away() const;
  // Where sets of inputs are shown, in the order of the arguments.
  [[nodiscard]] std::vector<Place> input_places() const;

  // The kernel's arguments, in order, for one slot of outputs.
  [[nodiscard]] std::vector<void*> arguments(int out_slot) const;
  void poison(int out_slot) const;

  // The first byte of an argument's region (not of its data).
  [[nodiscard]] char* region(std::size_t argument, int out_slot) const;

 private:
  explicit Buffers(const Spec& spec) : spec_(spec) {}
  Spec spec_;
  std::vector<char*> given_;                 // inputs and weights by argument; null for outputs
  std::vector<std::vector<char*>> outputs_;  // [out_slot][argument]
};

}  // namespace kw::runner
