#include "llm/secret.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>

#include <fmt/format.h>

namespace kw::llm {
namespace {

// A shorter one is no secret ("none", "x"), and replacing it would garble the text.
constexpr std::size_t kShortestSecret = 8;

}  // namespace

Result<Secret> Secret::make(const std::string& text, const std::string& source) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return bad_input(fmt::format("the key in {} is empty", source), "put the key there");
  std::string key = text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
  // It becomes a header: a line break in it would begin another one.
  const bool printable = std::all_of(key.begin(), key.end(), [](char c) { return c > 32 && c < 127; });
  if (!printable)
    return bad_input(fmt::format("the key in {} has spaces, line breaks or characters beyond ASCII in it", source),
                     "put the key there and nothing else");
  return Secret(std::move(key));
}

std::string Secret::redact(std::string text) const {
  if (text_.size() < kShortestSecret) return text;
  constexpr std::string_view kInstead = "[key]";
  for (std::size_t at = text.find(text_); at != std::string::npos; at = text.find(text_, at + kInstead.size()))
    text.replace(at, text_.size(), kInstead);
  return text;
}

Result<std::string> read_private_file(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return bad_input(fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)), "check the path and its permissions");
  // Asked of the open file: the name could be given to another one meanwhile.
  struct stat status {};
  const bool known = ::fstat(fd, &status) == 0;
  ::close(fd);
  if (!known || !S_ISREG(status.st_mode)) return bad_input(fmt::format("{} is no regular file", path.string()), "name a file");
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return bad_input(fmt::format("{} holds a key, and others than its owner can open it (mode {:03o})", path.string(),
                                 static_cast<unsigned>(status.st_mode & 0777)),
                     fmt::format("chmod 600 {}", path.string()));
  if (status.st_uid != ::geteuid() && status.st_uid != 0)
    return bad_input(fmt::format("{} holds a key and belongs to another user", path.string()), "make a file of your own");
  return read_file(path);
}

std::string random_key() {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  std::random_device random;
  std::string key;
  while (key.size() < 40) key += kLetters[random() % kLetters.size()];
  return key;
}

}  // namespace kw::llm
