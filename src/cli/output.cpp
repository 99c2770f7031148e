#include "cli/output.h"

#include <sys/ioctl.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "base/files.h"

namespace kw {

Output::Output(bool json) : json_(json), live_(!json && ::isatty(2) != 0) {
  const char* no_colour = std::getenv("NO_COLOR");
  paint_.on = !json && ::isatty(1) != 0 && (no_colour == nullptr || *no_colour == '\0');
}

void Output::clear_progress() {
  if (progress_shown_) std::fputs("\r\x1b[K", stderr);
  progress_shown_ = false;
}

void Output::progress(std::string_view text) {
  if (!live_) return;
  winsize size{};
  const std::size_t width = ::ioctl(2, TIOCGWINSZ, &size) == 0 && size.ws_col > 4 ? size.ws_col : 80;
  fmt::print(stderr, "\r\x1b[K  {} ...", text.substr(0, width - 7));
  std::fflush(stderr);
  progress_shown_ = true;
}

void Output::result(const std::string& text, const Json& json) {
  clear_progress();
  if (json_)
    fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
  else
    fmt::print("{}", text);
  std::fflush(stdout);
}

void Output::error(const Error& error) {
  clear_progress();
  const char* kind = error.kind == ErrorKind::bad_input ? "bad_input" : error.kind == ErrorKind::stopped ? "stopped" : "internal";
  if (json_) {
    const Json json{{"error", {{"kind", kind}, {"message", error.message}, {"hint", error.hint}}}};
    fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
    return;
  }
  fmt::print(stderr, "kernelwright: {}{}\n", error.kind == ErrorKind::internal ? "the evaluator failed: " : "", error.message);
  if (!error.hint.empty()) fmt::print(stderr, "  try: {}\n", error.hint);
}

Status check_out(const std::string& out) {
  std::error_code code;
  const fs::path folder = out.empty() ? fs::current_path(code) : fs::absolute(out).parent_path();
  if (!fs::is_directory(folder, code))
    return bad_input(out.empty() ? std::string("the current folder is gone")
                                 : fmt::format("--out {}: there is no folder {}", out, folder.string()),
                     out.empty() ? "go to another" : "make it first");
  if (!out.empty() && fs::is_directory(out, code))
    return bad_input(fmt::format("--out {} is a folder", out), "name a file, such as kernel.cpp");
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return bad_input(fmt::format("nothing can be written into {}: {}", folder.string(), std::strerror(errno)),
                     "name a file in another folder with --out");
  return {};
}

}  // namespace kw
