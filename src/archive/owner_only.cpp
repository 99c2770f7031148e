#include "archive/owner_only.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace kw {
namespace {

constexpr std::array<std::string_view, 3> kBesideAnArchive{"-wal", "-shm", "-journal"};
constexpr mode_t kOthers = S_IRWXG | S_IRWXO;

// All that the program ever puts into its data folder. An archive that was moved aside is one of these, too.
bool is_ours(const std::string& name) { return name == "locks" || name == "parts" || name.starts_with("archive.db"); }

bool holds_only_ours(const fs::path& folder) {
  const auto entries = entries_of(folder);
  return std::all_of(entries.begin(), entries.end(),
                     [](const fs::directory_entry& entry) { return is_ours(entry.path().filename().string()); });
}

// By its path and never through a descriptor: closing one would drop the locks that other connections of this process have on
// the file. A failure is no reason not to work, since a file system may know no modes.
void close_to_others(const fs::path& path, mode_t type, mode_t mode) {
  struct stat state {};
  if (::stat(path.c_str(), &state) == 0 && (state.st_mode & S_IFMT) == type && state.st_uid == ::geteuid() &&
      (state.st_mode & kOthers) != 0)
    (void)::chmod(path.c_str(), mode);
}

}  // namespace

Status make_own_folder(const fs::path& folder) {
  std::error_code code;
  if (fs::is_directory(folder, code)) return {};
  fs::create_directories(folder.parent_path(), code);
  if (!code && ::mkdir(folder.c_str(), S_IRWXU) == 0) return {};
  return make_folders(folder);  // another process was first, or this says why it cannot be
}

void make_own_file(const fs::path& file) {
  // Makes it without opening it. Where that fails, SQLite makes the file or says why it cannot.
  (void)::mknod(file.c_str(), S_IFREG | S_IRUSR | S_IWUSR, 0);
}

void close_to_others(const fs::path& archive) {
  close_to_others(archive, S_IFREG, S_IRUSR | S_IWUSR);
  for (const std::string_view end : kBesideAnArchive)
    close_to_others(archive.string() + std::string(end), S_IFREG, S_IRUSR | S_IWUSR);
  if (holds_only_ours(archive.parent_path())) close_to_others(archive.parent_path(), S_IFDIR, S_IRWXU);
}

}  // namespace kw
