// Where the test suite's own files are. A function and not a macro, so that one small object knows the clone's path and what else
// is compiled is the same in every clone.
#pragma once

#include <filesystem>

namespace kw::testing {

[[nodiscard]] const std::filesystem::path& tests_folder();

}  // namespace kw::testing
