#include <cstdlib>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "base/subprocess.h"
#include "sandbox/library_files.h"
#include "sandbox/sandbox.h"

namespace kw::sandbox {
namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

Status run_something_in(Mode mode) {
  const std::string program = find_program("true");
  if (program.empty()) return internal_error("the program 'true' is not on PATH");
  KW_TRY(const std::vector<std::string> files, library_files(program));
  Spec spec;
  spec.argv = {program};
  for (const std::string& file : files) spec.read_only.push_back({file, ""});
  spec.limits.deadline = std::chrono::seconds(20);
  KW_TRY(const Outcome outcome, run(spec, mode));
  if (!outcome.succeeded())
    return internal_error(fmt::format("{} failed in it: exit code {}, signal {} {}", program, outcome.exit_code, outcome.signal,
                                      first_line(outcome.err)));
  return {};
}

}  // namespace

Status try_mode(Mode mode) {
  static std::mutex guard;
  static std::map<std::pair<Mode, std::string>, Status> tried;  // with PATH, where bwrap is looked for
  const std::lock_guard lock(guard);
  const char* path = std::getenv("PATH");
  const std::pair key(mode, std::string(path ? path : ""));
  const auto found = tried.find(key);
  return found != tried.end() ? found->second : tried.emplace(key, run_something_in(mode)).first->second;
}

Result<Mode> choose_mode(bool allow_unsafe) {
  const char* forced = std::getenv("KERNELWRIGHT_SANDBOX");
  const std::string only = forced ? forced : "";
  if (!only.empty() && only != "bubblewrap" && only != "landlock")
    return bad_input(fmt::format("KERNELWRIGHT_SANDBOX={} is not a sandbox", only), "use bubblewrap or landlock, or unset it");
  std::string reasons;
  for (const Mode mode : {Mode::bubblewrap, Mode::landlock}) {
    if (!only.empty() && only != name_of(mode)) continue;
    const Status tried = try_mode(mode);
    if (tried) return mode;
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", name_of(mode), first_line(tried.error().message));
  }
  if (allow_unsafe) return Mode::none;
  return bad_input(fmt::format("no sandbox works on this machine ({})", reasons),
                   "install bubblewrap (apt install bubblewrap) and allow unprivileged user namespaces, or use a kernel with "
                   "Landlock; --unsafe-no-sandbox runs kernels without any, at your own risk");
}

}  // namespace kw::sandbox
