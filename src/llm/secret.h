// A key: where it may come from, and how it is kept out of everything that is printed, written or archived.
#pragma once

#include <string>

#include "base/files.h"
#include "base/result.h"

namespace kw::llm {

// Has no way into a stream or into JSON: whoever needs the text calls reveal(), which only the maker of HTTP headers does.
class Secret {
 public:
  Secret() = default;
  // `source` is named in errors: "OPENAI_API_KEY", a file's path.
  static Result<Secret> make(const std::string& text, const std::string& source);

  [[nodiscard]] bool empty() const { return text_.empty(); }
  [[nodiscard]] const std::string& reveal() const { return text_; }
  // The text with every occurrence of the key replaced.
  [[nodiscard]] std::string redact(std::string text) const;

 private:
  explicit Secret(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

// The content of a file that only its owner can read; one that others can read is refused.
Result<std::string> read_private_file(const fs::path& path);

// A key of random letters, for servers of our own.
std::string random_key();

}  // namespace kw::llm
