// A file or folder that is open for a lock between processes (flock). The lock goes with the object, or with the process in
// whatever way that ends. What it means that another has it, its users say.
#pragma once

#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace kw {

class LockedFile {
 public:
  explicit LockedFile(int descriptor) : descriptor_(descriptor) {}
  LockedFile(LockedFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  LockedFile& operator=(LockedFile&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;
  ~LockedFile() {
    if (descriptor_ < 0) return;
    ::flock(descriptor_, LOCK_UN);  // closing alone would not do while a forked child still has the descriptor
    ::close(descriptor_);
  }

  [[nodiscard]] int descriptor() const { return descriptor_; }
  // 0, or why not, as errno has it: EWOULDBLOCK where another holds it.
  [[nodiscard]] int lock() const { return take(LOCK_EX); }
  // The same beside others that share it; not beside one that has it alone.
  [[nodiscard]] int share() const { return take(LOCK_SH); }

 private:
  [[nodiscard]] int take(int kind) const {
    while (::flock(descriptor_, kind | LOCK_NB) != 0)
      if (errno != EINTR) return errno;
    return 0;
  }

  int descriptor_;  // -1: none
};

}  // namespace kw
