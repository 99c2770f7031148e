// The pieces of knowledge/playbook that generated kernels are pasted from; they are part of the program.
#pragma once

#include <set>
#include <string>

namespace kw {

// The pieces by name and those that they need, each once, each after its needs.
std::string paste_pieces(const std::set<std::string>& names);

// The pieces that the identifiers of a text belong to, as far as `known` does not have them in one form or another (vector, scalar_
// or each_). `vector_maths`: approximations of functions rather than libm lane by lane.
std::set<std::string> pieces_in_text(const std::string& text, const std::set<std::string>& known, bool vector_maths);

// CUDA: the pieces that the identifiers of a text belong to, with their needs; functions also for vectors where there are any. Of a
// name with several forms (fast_..., block_...) the preferred piece is pasted.
std::string paste_gpu_pieces(const std::string& body, const std::set<std::string>& preferred);

// The same in OpenCL C; `lanes`: vectors are used; `overloads`: pieces that no identifier tells.
std::string paste_opencl_pieces(const std::string& body, bool lanes, const std::set<std::string>& overloads);

// Whether the text has the word as a name of its own, not as a member of something.
bool says(const std::string& text, const std::string& word);

}  // namespace kw
