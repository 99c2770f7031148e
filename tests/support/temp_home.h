// Folders of a test's own for the archive and the caches, so that no test reads or writes what a user keeps.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "base/files.h"
#include "support/tests_folder.h"

namespace kw::testing {

// Sets an environment variable for as long as the object lives.
class ScopedVariable {
 public:
  ScopedVariable(std::string name, const std::optional<std::string>& value) : name_(std::move(name)) {
    if (const char* old = std::getenv(name_.c_str())) old_ = old;
    set(value);
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ~ScopedVariable() { set(old_); }

 private:
  void set(const std::optional<std::string>& value) const {
    if (value)
      ::setenv(name_.c_str(), value->c_str(), 1);
    else
      ::unsetenv(name_.c_str());
  }
  std::string name_;
  std::optional<std::string> old_;
};

enum class CacheIs {
  shared,  // beside the test's executable: tensors and descriptions that do not change are made once a build
  own,     // empty at first: for tests of the caching itself
};

class TempHome {
 public:
  explicit TempHome(CacheIs cache = CacheIs::shared)
      : folder_(std::move(TempFolder::make("kw-test")).value()),
        cache_(cache == CacheIs::own ? folder_.path() / "cache" : executable_folder() / "test-cache"),
        home_variable_("KERNELWRIGHT_HOME", (folder_.path() / "home").string()),
        cache_variable_("KERNELWRIGHT_CACHE", cache_.string()) {}

  [[nodiscard]] fs::path home() const { return folder_.path() / "home"; }
  [[nodiscard]] const fs::path& cache() const { return cache_; }

  // A file in the folder, with the folders above it; its path.
  [[nodiscard]] fs::path write(const std::string& name, std::string_view content) const {
    const fs::path file = folder_.path() / "files" / name;
    EXPECT_TRUE(make_folders(file.parent_path()).ok());
    EXPECT_TRUE(write_file_atomically(file, content).ok());
    return file;
  }

 private:
  TempFolder folder_;
  fs::path cache_;
  ScopedVariable home_variable_, cache_variable_;
};

// Files of the test suite itself.
inline fs::path test_file(const std::string& name) { return kw::testing::tests_folder() / name; }

}  // namespace kw::testing
