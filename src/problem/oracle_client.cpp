#include "problem/oracle_client.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "base/cache.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "base/timing_environment.h"
#include "base/work_limit.h"
#include "problem/torch_products.h"

namespace kw {
namespace {

using Clock = std::chrono::steady_clock;

Error error_from_oracle(const Json& answer) {
  const Json error = answer.value("error", Json::object());
  const std::string kind = error.value("kind", "internal");
  const bool is_users = kind == "bad_problem" || kind == "unsupported" || kind == "bad_request";
  return {is_users ? ErrorKind::bad_input : ErrorKind::internal, error.value("message", "the oracle failed"),
          error.value("hint", "")};
}

// What to do about a death.
std::string hint_for(int signal) {
  if (signal == SIGILL)
    return fmt::format(
        "this processor does not run an instruction that PyTorch uses: 'kernelwright doctor --refresh' tries which "
        "products run; export {}=AVX2 has it use older ones",
        kOneDnnVariable);
  if (signal == SIGKILL)
    return "memory may be short: close other programs or shrink the problem; 'kernelwright doctor' shows what is there";
  return "run 'kernelwright doctor'; if memory is short, close other programs or shrink the problem";
}

}  // namespace

struct OracleClient::State {
  OracleOptions options;
  pid_t pid = -1;
  CacheLease compiled;  // what torch.compile keeps stays while the oracle runs
  int to_child = -1;
  int from_child = -1;
  int errors = -1;  // the child's standard error, an unlinked file: its tail explains a death
  int generation = 0;
  std::uint64_t next_id = 1;
  std::string unread;
  Json greeting;
  bool is_abandoned = false;  // it works on what nobody waits for any more

  ~State() { stop(); }

  // The signal that it has died of by itself; 0: none.
  int stop() {
    if (to_child >= 0) ::close(to_child);
    int status = 0;
    bool is_ours = false;
    if (pid > 0) {
      // Closing its input ends it; a stuck one is killed.
      const int most = is_abandoned ? 24 : 40;  // what nobody waits for may take longer to be gone, with its memory, than we do
      for (int i = is_abandoned ? 20 : 0; i < most && ::waitpid(pid, &status, WNOHANG) == 0; ++i) {
        if (i == 20) {
          is_ours = true;
          ::kill(-pid, SIGKILL);
        }
        ::usleep(50000);
      }
      ::kill(-pid, SIGKILL);
    }
    if (from_child >= 0) ::close(from_child);
    if (errors >= 0) ::close(errors);
    pid = to_child = from_child = errors = -1;
    compiled.reset();
    unread.clear();
    greeting = {};
    is_abandoned = false;
    return WIFSIGNALED(status) && !is_ours ? WTERMSIG(status) : 0;
  }

  Status spawn() {
    KW_TRY(const std::string python, oracle_python());
    // A virtual machine may advertise AMX and not run it.
    if (processor_advertises("amx_tile") && onednn_limit().empty()) hold_onednn_back();
    KW_TRY(const fs::path root, install_root());
    KW_CHECK(make_folders(cache_home() / "inductor"));
    compiled = use_cached(cache_home() / "inductor", Missing::make);
    int down[2], up[2];
    if (::pipe2(down, O_CLOEXEC) != 0 || ::pipe2(up, O_CLOEXEC) != 0)
      return internal_error(fmt::format("cannot make a pipe for the oracle: {}", std::strerror(errno)));
    errors = ::open(fs::temp_directory_path().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (errors < 0) errors = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    const std::string oracle_folder = (root / "oracle").string();
    const std::string inductor = (cache_home() / "inductor").string();
    const pid_t parent = ::getpid();
    pid = ::fork();
    if (pid < 0) return internal_error(fmt::format("cannot start the oracle: {}", std::strerror(errno)));
    if (pid == 0) {
      ::setpgid(0, 0);
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(1);
      ::dup2(down[0], 0);
      ::dup2(up[1], 1);
      ::dup2(errors, 2);
      if (!options.cores.empty()) {
        cpu_set_t set;
        CPU_ZERO(&set);
        for (const int core : options.cores) CPU_SET(core, &set);
        ::sched_setaffinity(0, sizeof set, &set);
      }
      for (const auto& [name, value] : timing_environment()) ::setenv(name.c_str(), value.c_str(), 1);
      if (options.threads > 0) ::setenv("OMP_NUM_THREADS", std::to_string(options.threads).c_str(), 1);
      ::setenv("PYTHONSAFEPATH", "1", 1);  // or files of the current folder would hide Python's own modules
      ::setenv("PYTHONPATH", oracle_folder.c_str(), 1);
      ::setenv("PYTHONDONTWRITEBYTECODE", "1", 0);
      ::setenv("TORCHINDUCTOR_CACHE_DIR", inductor.c_str(), 0);
      ::execl(python.c_str(), python.c_str(), "-m", "kw_oracle", static_cast<char*>(nullptr));
      ::_exit(127);
    }
    ::setpgid(pid, pid);
    ::close(down[0]);
    ::close(up[1]);
    to_child = down[1];
    from_child = up[0];
    ++generation;
    return {};
  }

  // Where PyTorch's products do not run as they are: with fewer instructions, from the next start on.
  void hold_onednn_back() const {
    const auto products = torch_products();
    if (products && !products->limit.empty() && options.progress) options.progress(why_onednn_is_held(*products));
  }

  std::string tail_of_errors() const {
    if (errors < 0) return {};
    const off_t end = ::lseek(errors, 0, SEEK_END);
    if (end <= 0) return {};
    std::string text(static_cast<std::size_t>(std::min<off_t>(end, 2000)), '\0');
    const ssize_t got = ::pread(errors, text.data(), text.size(), end - static_cast<off_t>(text.size()));
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    const std::size_t line = text.rfind('\n');
    return line == std::string::npos ? text : text.substr(line + 1);
  }

  // One line, or nothing when the child is gone, the time is up, or the work as a whole has to end.
  enum class Wait { line, gone, late, ended };
  Wait read_line(std::string& line, Clock::time_point deadline) {
    for (;;) {
      if (const std::size_t end = unread.find('\n'); end != std::string::npos) {
        line = unread.substr(0, end);
        unread.erase(0, end + 1);
        return Wait::line;
      }
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
      if (left <= 0) return Wait::late;
      if (work_must_end()) return Wait::ended;
      pollfd watched{from_child, POLLIN, 0};
      const int ready = ::poll(&watched, 1, static_cast<int>(std::min<long long>(left, kLookAtLimit.count())));
      if (ready <= 0) continue;
      char block[65536];
      const ssize_t got = ::read(from_child, block, sizeof block);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return Wait::gone;
      unread.append(block, static_cast<std::size_t>(got));
    }
  }

  enum class Exchange { answered, gone, late, ended };
  Exchange exchange(const std::string& op, Json request, Clock::time_point deadline, Json& answer) {
    const std::uint64_t id = next_id++;
    request["id"] = id;
    request["op"] = op;
    const std::string text = request.dump() + "\n";
    for (std::size_t sent = 0; sent < text.size();) {
      const ssize_t put = ::write(to_child, text.data() + sent, text.size() - sent);
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return Exchange::gone;
      sent += static_cast<std::size_t>(put);
    }
    for (;;) {
      std::string line;
      switch (read_line(line, deadline)) {
        case Wait::gone:
          return Exchange::gone;
        case Wait::late:
          return Exchange::late;
        case Wait::ended:
          return Exchange::ended;
        case Wait::line:
          break;
      }
      auto message = parse_json(line, "the oracle's answer");
      if (!message || !message->is_object() || message->value("id", std::uint64_t{0}) != id) continue;
      if (message->contains("event")) {
        if (options.progress) options.progress(message->value("message", ""));
        continue;
      }
      answer = std::move(*message);
      return Exchange::answered;
    }
  }
};

Result<std::string> oracle_python() {
  if (const char* chosen = std::getenv("KERNELWRIGHT_PYTHON"); chosen && *chosen) {
    const std::string found = find_program(chosen);
    if (found.empty())
      return bad_input(fmt::format("KERNELWRIGHT_PYTHON={} is not a program", chosen),
                       "set it to a Python that has PyTorch, or unset it");
    return found;
  }
  if (auto root = install_root(); root && fs::exists(*root / ".venv" / "bin" / "python"))
    return (*root / ".venv" / "bin" / "python").string();
  const std::string found = find_program("python3");
  if (found.empty())
    return bad_input("no Python for the oracle", "run tools/setup, or set KERNELWRIGHT_PYTHON to one that has PyTorch");
  return found;
}

OracleClient::OracleClient(OracleOptions options) : state_(std::make_unique<State>()) {
  ::signal(SIGPIPE, SIG_IGN);  // a dead oracle is an error to handle, not a signal to die of
  state_->options = std::move(options);
}
OracleClient::OracleClient(OracleClient&&) noexcept = default;
OracleClient& OracleClient::operator=(OracleClient&&) noexcept = default;
OracleClient::~OracleClient() = default;

Status OracleClient::warm_up() { return state_->pid < 0 ? state_->spawn() : Status(); }

int OracleClient::generation() const { return state_->generation; }
int OracleClient::pid() const { return state_->pid; }

Result<Json> OracleClient::hello() {
  if (state_->greeting.is_null()) {
    KW_TRY(state_->greeting, ask("hello", Json::object(), std::chrono::seconds(120)));
  }
  return state_->greeting;
}

Result<Json> OracleClient::ask(const std::string& op, const Json& arguments, std::chrono::seconds limit) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (auto end = work_must_end()) return *end;
    if (state_->is_abandoned) state_->stop();
    KW_CHECK(warm_up());
    Json answer;
    switch (state_->exchange(op, arguments, Clock::now() + limit, answer)) {
      case State::Exchange::answered:
        if (answer.value("ok", false)) return answer.at("result");
        return error_from_oracle(answer);
      case State::Exchange::ended:
        // Nobody waits for the answer; the process is ended where the next question, or the end, finds it.
        state_->is_abandoned = true;
        return work_must_end().value_or(Error{ErrorKind::stopped, "the work was ended", ""});
      case State::Exchange::late:
        state_->stop();
        return internal_error(fmt::format("the oracle did not answer '{}' within {} s", op, limit.count()),
                              "the problem may be too large for this machine");
      case State::Exchange::gone:
        break;
    }
    const std::string last_words = state_->tail_of_errors();
    const int signal = state_->stop();
    if (last_words.find("No module named 'torch'") != std::string::npos)
      return bad_input("the oracle's Python has no PyTorch (" + last_words + ")",
                       "run tools/setup, or set KERNELWRIGHT_PYTHON to a Python that has torch");
    if (attempt == 1)
      return internal_error(
          fmt::format("the oracle died twice during '{}'{}{}", op, signal == 0 ? "" : ", of " + signal_name(signal),
                      last_words.empty() ? "" : ": " + last_words),
          hint_for(signal));
    if (signal == SIGILL) state_->hold_onednn_back();
  }
  return internal_error("unreachable");
}

}  // namespace kw
