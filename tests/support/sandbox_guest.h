// Small hostile programs for the sandbox's tests, compiled when first needed.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <string>

#include "base/files.h"
#include "base/subprocess.h"
#include "sandbox/library_files.h"
#include "sandbox/sandbox.h"

namespace kw::sandbox::test {

// Compiles C with the given flags; the result lives as long as the test program.
inline std::string compile(const std::string& source, std::vector<std::string> flags) {
  static TempFolder folder = std::move(TempFolder::make("kw-guest").value());
  static int count = 0;
  const fs::path stem = folder.path() / ("guest" + std::to_string(++count));
  EXPECT_TRUE(write_file_atomically(stem.string() + ".c", source).ok());
  Command command;
  command.argv = {find_program("cc"), "-O1", "-w", stem.string() + ".c", "-o", stem.string()};
  command.argv.insert(command.argv.end(), flags.begin(), flags.end());
  const auto compiled = run_command(command);
  EXPECT_TRUE(compiled.ok() && compiled->succeeded()) << (compiled.ok() ? compiled->err : compiled.error().message);
  return stem.string();
}

// A socket pair, one end for the guest. Once every process that holds the guest's end is gone, ours is at its end.
struct Line {
  int ours = -1, theirs = -1;
  Line() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    ours = ends[0];
    theirs = ends[1];
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  ~Line() {
    ::close(ours);
    close_theirs();
  }
  void close_theirs() {
    if (theirs >= 0) ::close(theirs);
    theirs = -1;
  }
  // Waits for bytes from the guest; empty at the end of the line or after 20 seconds.
  std::string read() const {
    pollfd watched{ours, POLLIN, 0};
    char block[4096];
    if (::poll(&watched, 1, 20000) <= 0) return "";
    const ssize_t got = ::recv(ours, block, sizeof block, 0);
    return got > 0 ? std::string(block, static_cast<std::size_t>(got)) : "";
  }
  // True when nobody holds the guest's end any more, without waiting.
  [[nodiscard]] bool is_dead() const {
    char block[4096];
    ssize_t got;
    while ((got = ::recv(ours, block, sizeof block, MSG_DONTWAIT)) > 0) {
    }
    return got == 0;
  }
};

inline Spec spec_for(const std::string& program, std::vector<std::string> arguments) {
  Spec spec;
  spec.argv = {program};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  const auto files = library_files(program);
  EXPECT_TRUE(files.ok()) << files.error().message;
  if (files.ok())
    for (const std::string& file : *files) spec.read_only.push_back({file, ""});
  return spec;
}

// Skips the test where this machine can't have that sandbox.
#define KW_NEEDS_SANDBOX(mode)                                                                      \
  do {                                                                                              \
    static std::map<kw::sandbox::Mode, kw::Status> tried;                                           \
    if (tried.find(mode) == tried.end()) tried.emplace(mode, kw::sandbox::try_mode(mode));          \
    if (const kw::Status& status = tried.at(mode); !status) GTEST_SKIP() << status.error().message; \
  } while (false)

}  // namespace kw::sandbox::test
