// Descriptors that close themselves, and the waits on them that the sandbox needs.
#pragma once

#include <sys/types.h>
#include <chrono>
#include <string>
#include <utility>

#include "base/result.h"

namespace kw::sandbox {

using Clock = std::chrono::steady_clock;

class Fd {
 public:
  Fd() = default;
  explicit Fd(int number) : number_(number) {}
  Fd(Fd&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Fd() { close(); }
  void close();
  [[nodiscard]] int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

struct Pipe {
  Fd read, write;
};

// All of these are closed on exec.
Result<Pipe> make_pipe();
Result<Fd> open_pidfd(pid_t pid);
Result<Fd> file_in_memory(const void* data, std::size_t size);

// True when it became readable (or ended) in time.
bool wait_readable(int fd, Clock::time_point until);

// Reads until the end of the stream or `until`.
std::string read_until(int fd, Clock::time_point until);

}  // namespace kw::sandbox
