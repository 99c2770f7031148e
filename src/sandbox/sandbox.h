// Runs programs that are not trusted: own file view, no network, limits, a deadline that ends every process of
// the tree. It never judges what the program did, and it never passes on a file, variable or descriptor that the
// Spec does not name.
#pragma once

#include <sys/types.h>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace kw::sandbox {

enum class Mode {
  bubblewrap,  // own namespaces: nothing but the binds exists
  landlock,    // the same file system with access denied: names and sizes of other files can still be seen
  none,        // limits and clean-up only; for --unsafe-no-sandbox
};
std::string_view name_of(Mode mode);

struct Bind {
  std::string source;
  std::string target;  // empty: the same path. Only bubblewrap can show a path elsewhere
};

struct Limits {
  std::chrono::milliseconds deadline{60000};            // of wall time, from start()
  std::chrono::milliseconds processor{0};               // of processor time, per process; 0: what the deadline allows
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;  // address space, per process
  std::uint64_t file_bytes = std::uint64_t{1} << 30;    // of one written file, and of the private /tmp (bubblewrap)
  int processes = 64;                // 1: threads but no other process. More: counted in bubblewrap unless run by root
  std::size_t output_cap = 1 << 20;  // bytes kept, per stream; what is beyond is read and dropped
};

struct Spec {
  std::vector<std::string> argv;                   // argv[0] is a full path inside
  std::map<std::string, std::string> environment;  // the whole of it, but for PWD and TMPDIR, which are set here
  std::vector<Bind> read_only, read_write;         // the writable ones last, so they may lie inside
  std::string folder = "/";                        // where it starts, inside
  std::vector<std::pair<int, int>> descriptors;    // ours -> its number inside (0 or from 3 on); all others are closed
  std::vector<int> cores;                          // affinity; empty: ours
  bool dev_null = false;                           // /dev/null and /dev/urandom exist
  std::vector<std::string> devices;                // nodes that it may open and drive, such as a GPU's
  bool own_proc = false;                           // a /proc of its own processes (bubblewrap)
  bool brings_filter = false;  // it installs a RunnerFilters itself, so bubblewrap lays no seccomp filter around it
  Limits limits;
};

struct Outcome {
  int exit_code = -1;  // meaningful when signal is 0
  int signal = 0;      // as in a shell, exit codes from 129 to 192 count as death by a signal: bubblewrap can't tell them apart
  bool timed_out = false;
  bool killed = false;  // by Process::kill() or its destructor
  bool output_truncated = false;
  bool memory_exceeded = false;  // best guess: it failed, and its memory or its message says so
  std::string out;
  std::string err;
  double seconds = 0;                   // from start() until everything was gone
  std::uint64_t peak_memory_bytes = 0;  // resident, of the largest process; never below our own size at start()
  [[nodiscard]] bool succeeded() const { return exit_code == 0 && signal == 0 && !timed_out && !killed; }
};

// A running tree of processes. A thread of ours reads its output and keeps its deadline, whatever the caller does.
class Process {
 public:
  Process(Process&&) noexcept;
  Process& operator=(Process&&) noexcept;
  ~Process();  // kills everything and waits for the end

  // Our direct child: bubblewrap, or the supervisor that landlock and none use.
  [[nodiscard]] pid_t pid() const;
  // The program itself as seen from outside, for /proc/<pid>/task and the like; 0 once it is gone.
  [[nodiscard]] pid_t program_pid() const;
  // Moves the deadline to that long from now.
  void set_deadline(std::chrono::milliseconds from_now);
  // True once every process of the tree is gone.
  bool wait_for(std::chrono::milliseconds time);
  // Asks for the end; finish() tells when it came.
  void kill();
  // Waits for the end. Once only. An Error means that the sandbox failed, not the program.
  Result<Outcome> finish();

 private:
  struct State;
  explicit Process(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
  friend Result<Process> start(const Spec& spec, Mode mode);
};

Result<Process> start(const Spec& spec, Mode mode);
Result<Outcome> run(const Spec& spec, Mode mode);

// The best mode that works here, found by trying each. $KERNELWRIGHT_SANDBOX=bubblewrap|landlock
// allows only that one. Without any, `none` if allow_unsafe, else an Error that says what to install.
Result<Mode> choose_mode(bool allow_unsafe);

// Runs a harmless program in that mode; the Error says why it can't be used here. Tried once per process.
Status try_mode(Mode mode);

}  // namespace kw::sandbox
