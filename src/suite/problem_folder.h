// The problems of a folder.
#pragma once

#include <string>
#include <vector>

#include "base/files.h"

namespace kw {

struct FolderProblem {
  std::string name;  // its path within the folder, without .py
  fs::path file;
  std::string hash;  // of its text
  std::string flaw;  // why it cannot be searched at all, in a sentence; empty: nothing is known against it
};

struct ProblemFolder {
  std::vector<FolderProblem> problems;  // 2_ before 10_
  std::vector<std::string> skipped;     // Python files that are no problems
};

// All of its folders but those with results of an earlier bench; a single file is a folder with one problem. A file that cannot
// be read is a problem with a flaw: nobody knows that it is none. Bad input: not there, or no problem in it.
Result<ProblemFolder> problems_in(const fs::path& folder);

// Whether a name has one of these in it; none: every name is wanted.
bool is_wanted(const std::string& name, const std::vector<std::string>& only);

// The last part of its path, however that was written: problems/level1/ is level1, and . is what it stands for.
std::string name_of_folder(const fs::path& folder);

// Numbers in names by their value: level1/2_x before level1/10_y.
bool counts_before(const std::string& a, const std::string& b);

}  // namespace kw
