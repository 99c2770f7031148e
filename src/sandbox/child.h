// What a child does between fork and exec. Everything is prepared before the fork: afterwards only calls that are safe in
// the child of a process with threads are made, and nothing is allocated.
#pragma once

#include <sched.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/fd.h"
#include "sandbox/sandbox.h"

namespace kw::sandbox {

// Our descriptors and their numbers in the child, which has no others afterwards.
class Placement {
 public:
  void add(int ours, int number, bool close_on_exec = false);
  // Adds at the lowest number above all others.
  int add_above(int ours, bool close_on_exec = false);
  // Call in the child. False with errno set when it failed.
  [[nodiscard]] bool apply();

 private:
  struct Entry {
    int ours, number;
    bool close_on_exec;
    int moved;
  };
  std::vector<Entry> entries_;  // by number
};

// Standard input, output and error of a child, as it will have them.
struct Streams {
  int in, out, err;
};

struct Words {
  explicit Words(std::vector<std::string> words);
  std::vector<std::string> storage;
  std::vector<char*> pointers;  // ends with nullptr
};
Words environment_words(const std::map<std::string, std::string>& environment);

// More than these cores (none: all) can spend in that time.
std::uint64_t processor_seconds(const std::vector<int>& cores, std::chrono::milliseconds time);

struct ChildSetup {
  ChildSetup(const Spec& spec, const Streams& streams);
  // Call last before the fork: the descriptor closes on exec.
  void report_failures_to(int ours);

  // In the child: signals, descriptors, affinity and limits.
  void enter();
  // In the child: sends errno and the step to the parent and ends.
  [[noreturn]] void give_up(const char* step) const;

  Placement placement;
  std::vector<std::pair<int, rlimit>> limits;
  cpu_set_t cores;
  bool set_cores = false;
  int failure_fd = -1, failure_fd_placed = -1;
};

// In the parent: waits for exec (the pipe ends) or for what ChildSetup::give_up says.
Status exec_succeeded(int failure_fd, Clock::time_point until, const std::string& program);

void reset_signals();

}  // namespace kw::sandbox
