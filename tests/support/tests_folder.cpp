#include "support/tests_folder.h"

namespace kw::testing {

const std::filesystem::path& tests_folder() {
  static const std::filesystem::path folder = KW_TESTS_FOLDER;
  return folder;
}

}  // namespace kw::testing
