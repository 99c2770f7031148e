// Trusted child processes (compilers' --version, objdump, the oracle): no shell, captured output, a deadline
// that ends the whole process group. What is not trusted goes through src/sandbox instead.
#pragma once

#include <sys/types.h>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace kw {

struct Command {
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;  // added to ours
  std::string folder;                              // empty: ours
  std::chrono::milliseconds deadline{60000};
  std::size_t output_cap = 1 << 20;  // per stream; what is beyond is dropped
};

struct CommandOutcome {
  int exit_code = -1;  // meaningful when signal is 0
  int signal = 0;
  bool timed_out = false;
  std::string out;
  std::string err;
  [[nodiscard]] bool succeeded() const { return exit_code == 0 && signal == 0 && !timed_out; }
};

// An Error means that it could not be started at all.
Result<CommandOutcome> run_command(const Command& command);

// "SIGSEGV".
std::string signal_name(int signal);

// The full path of a program on PATH, or empty.
std::string find_program(const std::string& name);

}  // namespace kw
