// The files that the dynamic loader opens for an executable: what a sandbox has to show for it to start.
// Nothing of the executable is run.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace kw::sandbox {

// The executable, its loader and its libraries under the names that the loader uses, and the loader's cache. A missing
// library is an error that names it.
Result<std::vector<std::string>> library_files(const std::string& executable);

}  // namespace kw::sandbox
