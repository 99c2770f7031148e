// Prompts made from template files: named sections, some of which may be left out where a model's context is small. What comes from
// kernels, compilers or models is quoted as data on its way in, and is never read as part of a template.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "record/exchange.h"

namespace kw {

// How many tokens a text should be; a little too many rather than too few.
int estimated_tokens(std::string_view text);

// Text of others as a block that nothing in it can end.
std::string quoted_code(const std::string& code, std::string_view language);
// Lines of others behind "> ", without control characters, clipped.
std::string quoted_lines(std::string_view text, std::size_t longest = 4000);

using PromptValues = std::map<std::string, std::string>;

struct Prompt {
  std::vector<ChatMessage> messages;
  std::vector<std::string> left_out;  // names of sections, the least important first
  int tokens = 0;                     // estimated
};

class PromptTemplate {
 public:
  // Lines "== system", "== user" begin a message; "== section NAME keep" or "== section NAME 30" a section of it, which stays
  // whatever happens, or is left out in the order of falling importance (30 before 60). Text before the first is for readers.
  static Result<PromptTemplate> parse(std::string_view text, const std::string& what);

  // `{{name}}` is replaced by a value. A section all of whose values are empty is left out without a word. Sections that do
  // not fit leave a line that says so. An error where even those to keep are too long, or a value is not there.
  [[nodiscard]] Result<Prompt> fill(const PromptValues& values, int most_tokens) const;

  [[nodiscard]] std::vector<std::string> names() const;  // of its values

 private:
  struct Section {
    std::string name;
    int importance = 1000;  // 1000: stays
    std::string text;
    std::size_t message = 0;
  };
  [[nodiscard]] static std::vector<std::string> names_in(const std::string& text);

  std::string what_;
  std::vector<std::string> roles_;
  std::vector<Section> sections_;
};

}  // namespace kw
