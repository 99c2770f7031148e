// The one place that decides what a problem's tensors are called in a kernel that is written here. Families see every tensor under
// a name that nothing else in a text can have; once the text stands, each gets its own name back, or one like it where the text, or
// the language, has something else of that name. No family has to know what a user may call a tensor.
#pragma once

#include <map>
#include <set>
#include <string>

#include "record/problem.h"

namespace kw {

enum class TextLanguage { cpp, opencl, triton, tilelang };

// The problem as families see it.
ProblemDescription with_marked_names(ProblemDescription problem);
// The tensor's own name in problem.h; of a name without a mark, itself.
std::string unmarked(const std::string& name);
// Characters of a text once its names are final.
std::size_t length_without_marks(const std::string& text);
// What local variables are not called where they have a choice: tensors, and the constants that problem.h has of them.
std::set<std::string> names_of_tensors(const ProblemDescription& problem);

struct NamedText {
  std::string text;
  std::map<std::string, std::string> changed;  // from a tensor's own name to the one it got, where they differ
};
// `text`: what the writer wrote for this problem, without pasted pieces. Members of the contract's structs keep their names.
NamedText with_final_names(const std::string& text, const ProblemDescription& marked, TextLanguage language);

}  // namespace kw
