// bubblewrap: own user, pid, net, ipc, uts, cgroup and mount namespaces. When the supervisor has buried the pid
// namespace's init, the kernel has ended everything inside.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "base/files.h"
#include "base/json.h"
#include "base/subprocess.h"
#include "sandbox/confinement.h"
#include "sandbox/guests.h"

namespace kw::sandbox {
namespace {

struct Arranged {
  int status, block, filter;  // descriptor numbers in the child; filter is -1 without one
};

std::vector<std::string> bubblewrap_words(const std::string& program, const Spec& spec, const Arranged& fds) {
  std::vector<std::string> words = {program,
                                    "--unshare-all",
                                    "--die-with-parent",
                                    "--new-session",
                                    "--cap-drop",
                                    "ALL",
                                    "--clearenv",
                                    "--hostname",
                                    "sandbox",
                                    "--json-status-fd",
                                    fmt::format("{}", fds.status),
                                    "--block-fd",
                                    fmt::format("{}", fds.block)};
  const auto add = [&words](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
  if (fds.filter >= 0) add({"--seccomp", fmt::format("{}", fds.filter)});
  add({"--size", fmt::format("{}", std::max<std::uint64_t>(spec.limits.file_bytes, 4096)), "--tmpfs", "/tmp"});
  const auto bind = [&](const char* how, const Bind& path) {
    add({how, path.source, path.target.empty() ? path.source : path.target});
  };
  for (const Bind& path : spec.read_only) bind("--ro-bind", path);
  for (const Bind& path : spec.read_write) bind("--bind", path);
  if (spec.dev_null)
    for (const char* device : {"/dev/null", "/dev/urandom"}) add({"--dev-bind", device, device});
  for (const std::string& device : spec.devices) add({"--dev-bind", device, device});
  if (spec.own_proc) add({"--proc", "/proc"});
  add({"--remount-ro", "/"});  // it is a tmpfs: writable, it would be memory without a limit
  for (const auto& [name, value] : spec.environment) add({"--setenv", name, value});
  add({"--setenv", "TMPDIR", "/tmp", "--chdir", spec.folder, "--"});
  words.insert(words.end(), spec.argv.begin(), spec.argv.end());
  return words;
}

// One line of JSON from bubblewrap, or nothing at its end.
std::string read_line(int fd, Clock::time_point until) {
  std::string line;
  char letter;
  while (wait_readable(fd, until) && ::read(fd, &letter, 1) == 1) {
    if (letter == '\n') return line;
    line += letter;
  }
  return line;
}

class BubblewrapRunning final : public Running {
 public:
  BubblewrapRunning(Supervisor supervisor, pid_t init, Fd status)
      : Running(std::move(supervisor)), init_(init), status_(std::move(status)) {}

  [[nodiscard]] pid_t program_pid() const override {
    const auto children = read_file(fmt::format("/proc/{0}/task/{0}/children", init_));
    return children ? static_cast<pid_t>(std::strtol(children->c_str(), nullptr, 10)) : 0;
  }

  Result<Finished> end() override {
    KW_TRY(const Ending ending, supervisor_.end());
    Finished finished{SIGKILL, ending.by_us, ending.orphan_peak_bytes};
    // bubblewrap tells an exit code only of a program that it could start.
    const auto json = parse_json(read_until(status_.get(), Clock::now()), "bubblewrap's status");
    if (json && json->contains("exit-code")) {
      const int code = json->value("exit-code", -1);
      finished.status = code > 128 && code <= 128 + 64 ? code - 128 : code << 8;
    } else if (!ending.by_us && WIFEXITED(ending.status)) {
      return internal_error("bubblewrap could not start the program");
    }
    return finished;
  }

 private:
  pid_t init_;
  Fd status_;
};

}  // namespace

Result<std::unique_ptr<Running>> start_in_bubblewrap(const Spec& spec, const Streams& streams, Clock::time_point until) {
  const std::string program = find_program("bwrap");
  if (program.empty()) return bad_input("bubblewrap (bwrap) is not on PATH", "apt install bubblewrap");
  KW_TRY(Pipe status, make_pipe());
  KW_TRY(Pipe block, make_pipe());
  Fd filter;
  if (!spec.brings_filter) {
    KW_TRY(const BpfProgram* bytes, confinement_filter({.no_processes = spec.limits.processes == 1}));
    KW_TRY(filter, file_in_memory(bytes->data(), bytes->size() * sizeof(sock_filter)));
  }
  ChildSetup setup(spec, streams);
  Arranged fds{};
  fds.status = setup.placement.add_above(status.write.get());
  fds.block = setup.placement.add_above(block.read.get());
  fds.filter = filter ? setup.placement.add_above(filter.get()) : -1;
  // bubblewrap's own environment is empty: it runs outside, where the guest's LD_PRELOAD must not reach.
  Guest guest{std::move(setup), Words(bubblewrap_words(program, spec, fds)), Words({}), {}};
  KW_TRY(Supervisor supervisor, start_supervisor(guest, until));
  status.write.close();

  const auto hello = parse_json(read_line(status.read.get(), until), "bubblewrap's status");
  const pid_t init = hello && hello->contains("child-pid") ? hello->value("child-pid", 0) : 0;
  if (init <= 0) {
    (void)supervisor.end();
    return internal_error("bubblewrap could not make its namespaces");
  }
  if (spec.limits.processes > 1) {
    // Set here and not before: inside its user namespace only its own processes count. Init is one more.
    const auto most = static_cast<rlim_t>(spec.limits.processes) + 1;
    const rlimit processes{most, most};
    ::prlimit(init, RLIMIT_NPROC, &processes, nullptr);
  }
  // Our copy of the read end is still open, so this can't raise SIGPIPE.
  (void)!::write(block.write.get(), "g", 1);
  return std::unique_ptr<Running>(std::make_unique<BubblewrapRunning>(std::move(supervisor), init, std::move(status.read)));
}

}  // namespace kw::sandbox
