// One timing at a time per machine: a lock between processes (and threads) that lasts as long as the object.
// It never breaks another's lock; the system frees that of a process that has died.
#pragma once

#include <chrono>
#include <functional>

#include "base/files.h"
#include "base/locked_file.h"

namespace kw {

struct LockWait {
  std::chrono::milliseconds timeout = std::chrono::minutes(30);
  // Told at once when the lock is taken, and then about every second. False gives up.
  std::function<bool(std::chrono::milliseconds waited)> on_wait;
};

class MachineLock {
 public:
  // Not to be called by a thread that already holds the lock: it would wait for itself.
  static Result<MachineLock> acquire(const LockWait& wait = {}, const fs::path& folder = cache_home());

 private:
  explicit MachineLock(LockedFile file) : file_(std::move(file)) {}
  LockedFile file_;
};

}  // namespace kw
