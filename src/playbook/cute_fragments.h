// Memory in CuTe's terms: threads share a stretch of it, each has its part in a fragment of registers, and copies move several
// elements at a time.
#pragma once

#include <string>

#include "playbook/gpu_stage.h"

namespace kw {

// What threads share: `count` elements, of which a thread moves `lanes` at once.
struct CuteStretch {
  std::int64_t count = 1;
  std::int64_t lanes = 1;
  std::string threads;  // "KW_THREADS"
  std::string thread;   // "threadIdx.x": which of them it is
  std::string whole;    // the tensor that holds it: "make_tensor({0}, make_layout(Int<4096>{{}}))({1}, _)" with {0} for the memory
  std::string tile;     // elements of all threads together, where the stretch is longer than what one round moves; a text
  std::string at;       // the tensor of a thread's positions
};

// Tensor AT: the positions of what a thread has.
void write_positions(Emitter& e, const CuteStretch& stretch, const std::string& positions);
// Tensor NAME: a fragment with what is in memory; a loop over vectors that leaves out what is past the end.
void write_fragment_in(GpuWriter& writer, Emitter& e, const CuteStretch& stretch, const std::string& name,
                       const std::string& memory, DType dtype);
// Tensor NAME: an empty fragment for memory, and the copy to it once it is filled.
void declare_fragment_out(GpuWriter& writer, Emitter& e, const CuteStretch& stretch, const std::string& name,
                          const std::string& memory, DType dtype);
void write_fragment_out(Emitter& e, const CuteStretch& stretch, const std::string& name);

// An element of a fragment as a number to compute with, and a number as an element.
Expr fragment_element(const std::string& name, const std::string& item, DType dtype);
std::string as_element(const Expr& value, DType dtype);

// How many elements one access may move: 16 bytes of the widest of these types, none past the end.
std::int64_t lanes_for(const GpuWriter& writer, const std::vector<DType>& types, std::int64_t count);

}  // namespace kw
