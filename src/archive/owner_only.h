// An archive holds kernels, problems and what was asked of language models: it is for its owner alone. Files get mode
// 0600 and the program's own folder 0700, also where an earlier version left them open to others.
#pragma once

#include "base/files.h"
#include "base/result.h"

namespace kw {

// Makes the folder for its owner alone where there is none, with the folders above it as usual.
Status make_own_folder(const fs::path& folder);

// An empty file for its owner alone where there is none. SQLite gives its mode to the files that it makes beside it.
void make_own_file(const fs::path& file);

// Closes an archive that is there to others: the file, what SQLite keeps beside it, and its folder if that holds nothing but
// what this program puts there. A working folder stays as open as its owner wants it, and so do files of another user.
void close_to_others(const fs::path& archive);

}  // namespace kw
