#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

namespace kw {
namespace {

std::string reason() { return std::strerror(errno); }

fs::path from_environment(const char* own, const char* xdg, const char* under_home) {
  if (const char* value = std::getenv(own); value && *value) return value;
  if (const char* value = std::getenv(xdg); value && *value) return fs::path(value) / "kernelwright";
  const char* home = std::getenv("HOME");
  return fs::path(home && *home ? home : ".") / under_home / "kernelwright";
}

}  // namespace

Result<std::string> read_file(const fs::path& path) {
  std::error_code code;
  if (fs::is_directory(path, code)) return bad_input(fmt::format("{} is a folder, not a file", path.string()), "name a file in it");
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return bad_input(fmt::format("cannot read {}: {}", path.string(), reason()),
                     errno == ENOENT ? "check the path" : "check its permissions");
  std::string content;
  char block[65536];
  for (;;) {
    const ssize_t got = ::read(fd, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      Error error = bad_input(fmt::format("cannot read {}: {}", path.string(), reason()));
      ::close(fd);
      return error;
    }
    if (got == 0) break;
    content.append(block, static_cast<std::size_t>(got));
  }
  ::close(fd);
  return content;
}

Status write_file_atomically(const fs::path& path, std::string_view content) {
  std::string partial = path.string() + ".XXXXXX";
  const int fd = ::mkstemp(partial.data());
  if (fd < 0)
    return internal_error(fmt::format("cannot write {}: {}", path.string(), reason()),
                          "check the folder's permissions and the free disk space");
  const auto give_up = [&]() -> Status {
    Error error = internal_error(fmt::format("cannot write {}: {}", path.string(), reason()),
                                 "check the free disk space and the folder's permissions");
    ::close(fd);
    ::unlink(partial.c_str());
    return error;
  };
  std::size_t written = 0;
  while (written < content.size()) {
    const ssize_t put = ::write(fd, content.data() + written, content.size() - written);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return give_up();
    written += static_cast<std::size_t>(put);
  }
  ::fchmod(fd, 0644);
  if (::close(fd) != 0 || ::rename(partial.c_str(), path.c_str()) != 0) {
    Error error = internal_error(fmt::format("cannot write {}: {}", path.string(), reason()));
    ::unlink(partial.c_str());
    return error;
  }
  return {};
}

Status make_folders(const fs::path& path) {
  std::error_code code;
  fs::create_directories(path, code);
  if (code)
    return internal_error(fmt::format("cannot make the folder {}: {}", path.string(), code.message()),
                          "check permissions, or point KERNELWRIGHT_HOME and KERNELWRIGHT_CACHE elsewhere");
  return {};
}

std::vector<fs::directory_entry> entries_of(const fs::path& folder) {
  std::vector<fs::directory_entry> all;
  std::error_code code;
  // A range-based loop would throw where the next entry cannot be read.
  for (fs::directory_iterator entry(folder, code); !code && entry != fs::directory_iterator(); entry.increment(code))
    all.push_back(*entry);
  return all;
}

Result<TempFolder> TempFolder::make(std::string_view prefix) {
  std::error_code code;
  fs::path base = fs::temp_directory_path(code);
  if (code) return internal_error("no temporary folder: " + code.message(), "set TMPDIR to a folder that you can write");
  auto made = make_in(base, prefix);
  if (!made) return internal_error(made.error().message, "set TMPDIR to a folder that you can write");
  return made;
}

Result<TempFolder> TempFolder::make_in(const fs::path& parent, std::string_view prefix) {
  std::string name = (parent / fmt::format("{}.XXXXXX", prefix)).string();
  if (!::mkdtemp(name.data()))
    return internal_error(fmt::format("cannot make a temporary folder under {}: {}", parent.string(), reason()),
                          "make room there, or choose a folder that you can write");
  return TempFolder(name);
}

TempFolder::TempFolder(TempFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
TempFolder& TempFolder::operator=(TempFolder&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}
TempFolder::~TempFolder() {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

fs::path data_home() { return from_environment("KERNELWRIGHT_HOME", "XDG_DATA_HOME", ".local/share"); }
fs::path cache_home() { return from_environment("KERNELWRIGHT_CACHE", "XDG_CACHE_HOME", ".cache"); }

fs::path executable_folder() {
  std::error_code code;
  const fs::path self = fs::read_symlink("/proc/self/exe", code);
  return code ? fs::path(".") : self.parent_path();
}

Result<fs::path> install_root() {
  if (const char* value = std::getenv("KERNELWRIGHT_ROOT"); value && *value) {
    if (fs::exists(fs::path(value) / "oracle" / "kw_oracle")) return fs::path(value);
    return bad_input(fmt::format("KERNELWRIGHT_ROOT={} has no oracle/kw_oracle in it", value),
                     "set it to the folder of the checkout, or unset it");
  }
  for (fs::path folder = executable_folder();; folder = folder.parent_path()) {
    if (fs::exists(folder / "oracle" / "kw_oracle")) return folder;
    if (fs::exists(folder / "share" / "kernelwright" / "oracle" / "kw_oracle")) return folder / "share" / "kernelwright";
    if (folder == folder.parent_path()) break;
  }
  return bad_input("cannot find Kernelwright's own files (oracle/kw_oracle) above the executable",
                   "set KERNELWRIGHT_ROOT to the folder of the checkout");
}

}  // namespace kw
