// Files and folders: whole-file reads, atomic writes, temporary folders, and where Kernelwright keeps things.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kw {

namespace fs = std::filesystem;

Result<std::string> read_file(const fs::path& path);

// Writes beside the target and renames, so that a reader never sees half a file. Full disks and missing
// permissions are errors that name the path.
Status write_file_atomically(const fs::path& path, std::string_view content);

Status make_folders(const fs::path& path);

// What is in a folder, in no order; nothing where it cannot be read. Others may add and remove entries meanwhile, so that one
// of them may be gone when it is looked at: use the forms that take a std::error_code.
std::vector<fs::directory_entry> entries_of(const fs::path& folder);

// A private folder that is removed with everything in it.
class TempFolder {
 public:
  static Result<TempFolder> make(std::string_view prefix = "kw");
  // Under a folder of the caller's choice: what is made in it can be renamed to a place beside it.
  static Result<TempFolder> make_in(const fs::path& parent, std::string_view prefix);
  TempFolder(TempFolder&& other) noexcept;
  TempFolder& operator=(TempFolder&& other) noexcept;
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder();
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  explicit TempFolder(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

// Where the archive lives: $KERNELWRIGHT_HOME, else $XDG_DATA_HOME/kernelwright, else ~/.local/share/kernelwright.
fs::path data_home();
// Where what can be made again lives: $KERNELWRIGHT_CACHE, else $XDG_CACHE_HOME/kernelwright, else ~/.cache/kernelwright.
fs::path cache_home();
// The folder that holds oracle/ and knowledge/: $KERNELWRIGHT_ROOT, else found upwards from the executable.
Result<fs::path> install_root();
// The folder of the running executable.
fs::path executable_folder();

}  // namespace kw
