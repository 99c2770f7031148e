#include "llm/helper_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "base/files.h"
#include "base/subprocess.h"

namespace kw::llm {

Result<HelperProcess> HelperProcess::start(const std::vector<std::string>& argv, const std::string& python_path,
                                           const Json& options) {
  HelperProcess helper;
  int down[2], up[2];
  if (::pipe2(down, O_CLOEXEC) != 0) return internal_error(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  helper.to_child_ = down[1];
  if (::pipe2(up, O_CLOEXEC) != 0) {
    ::close(down[0]);
    return internal_error(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  helper.from_child_ = up[0];
  std::error_code code;
  helper.errors_ = ::open(fs::temp_directory_path(code).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (helper.errors_ < 0) helper.errors_ = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  helper.pid_ = ::fork();
  if (helper.pid_ == 0) {
    ::setpgid(0, 0);  // Ctrl-C is for the parent, which ends its helpers in its own time
    ::dup2(down[0], 0);
    ::dup2(up[1], 1);
    ::dup2(helper.errors_, 2);
    ::setenv("PYTHONPATH", python_path.c_str(), 1);
    ::setenv("PYTHONSAFEPATH", "1", 1);  // or files of the current folder would hide Python's own modules
    ::setenv("PYTHONDONTWRITEBYTECODE", "1", 0);
    // It has no use for them.
    for (const char* name : {"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "KERNELWRIGHT_API_KEY"}) ::unsetenv(name);
    ::execv(words[0], words.data());
    ::_exit(127);
  }
  ::close(down[0]);
  ::close(up[1]);
  if (helper.pid_ < 0) return internal_error(fmt::format("cannot start {}: {}", argv[0], std::strerror(errno)));
  ::setpgid(helper.pid_, helper.pid_);
  ::signal(SIGPIPE, SIG_IGN);
  const std::string line = options.dump() + "\n";
  // A few hundred bytes fit into the pipe at once; a helper that is gone already is noticed at its first word.
  (void)!::write(helper.to_child_, line.data(), line.size());
  return helper;
}

void HelperProcess::swap(HelperProcess& other) {
  std::swap(pid_, other.pid_);
  std::swap(to_child_, other.to_child_);
  std::swap(from_child_, other.from_child_);
  std::swap(errors_, other.errors_);
  std::swap(unread_, other.unread_);
}

HelperProcess::HelperProcess(HelperProcess&& other) noexcept { swap(other); }
HelperProcess& HelperProcess::operator=(HelperProcess&& other) noexcept {
  swap(other);
  return *this;
}

HelperProcess::~HelperProcess() {
  if (to_child_ >= 0) ::close(to_child_);
  if (pid_ > 0) {
    for (int i = 0; i < 40 && alive(); ++i) ::usleep(50000);
    if (pid_ > 0) {
      ::kill(-pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }
  if (from_child_ >= 0) ::close(from_child_);
  if (errors_ >= 0) ::close(errors_);
}

bool HelperProcess::alive() {
  if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
  return pid_ > 0;
}

HelperProcess::Said HelperProcess::next(Json& said, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    if (const std::size_t end = unread_.find('\n'); end != std::string::npos) {
      const std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      auto message = parse_json(line, "the helper's message");
      if (!message || !message->is_object()) continue;
      said = std::move(*message);
      return Said::something;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    if (left <= 0) return Said::nothing_yet;
    pollfd watched{from_child_, POLLIN, 0};
    if (::poll(&watched, 1, static_cast<int>(left)) <= 0) continue;
    char block[4096];
    const ssize_t got = ::read(from_child_, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Said::gone;
    unread_.append(block, static_cast<std::size_t>(got));
  }
}

std::string HelperProcess::last_words() const {
  const off_t end = errors_ < 0 ? 0 : ::lseek(errors_, 0, SEEK_END);
  if (end <= 0) return {};
  std::string text(static_cast<std::size_t>(std::min<off_t>(end, 300)), '\0');
  const ssize_t got = ::pread(errors_, text.data(), text.size(), end - static_cast<off_t>(text.size()));
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

Result<std::string> helper_python() {
  if (const char* chosen = std::getenv("KERNELWRIGHT_PYTHON"); chosen && *chosen) {
    const std::string found = find_program(chosen);
    if (found.empty())
      return bad_input(fmt::format("KERNELWRIGHT_PYTHON={} is not a program", chosen), "set it to a Python, or unset it");
    return found;
  }
  if (auto root = install_root(); root && fs::exists(*root / ".venv" / "bin" / "python"))
    return (*root / ".venv" / "bin" / "python").string();
  const std::string found = find_program("python3");
  if (found.empty()) return bad_input("there is no Python for the local model", "run tools/setup, or set KERNELWRIGHT_PYTHON");
  return found;
}

}  // namespace kw::llm
