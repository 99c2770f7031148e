#include "agent/prompt.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "agent/cpp_shape.h"

namespace kw {
namespace {

constexpr int kStays = 1000;
constexpr int kTokensOfAMessage = 8;

std::vector<std::string> split_words(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : line + " ") {
    if (c != ' ')
      word += c;
    else if (!word.empty())
      words.push_back(std::exchange(word, {}));
  }
  return words;
}

}  // namespace

int estimated_tokens(std::string_view text) {
  // Code has about 3 bytes a token, prose about 4; letters beyond ASCII are worse than either.
  std::size_t wide = 0;
  for (const char c : text) wide += static_cast<unsigned char>(c) >= 0x80 ? 1 : 0;
  return static_cast<int>((text.size() + 2 * wide) * 10 / 31) + 1;
}

std::string quoted_code(const std::string& code, std::string_view language) {
  std::size_t longest = 2, run = 0;
  for (const char c : code) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  return fmt::format("{}{}\n{}{}{}", fence, language, code, code.ends_with('\n') || code.empty() ? "" : "\n", fence);
}

std::string quoted_lines(std::string_view text, std::size_t longest) {
  const bool clipped = text.size() > longest;
  std::string out;
  for (const std::string& line : lines_of(text.substr(0, longest))) {
    std::string clean;
    for (const char c : line)
      if (c == '\t' || static_cast<unsigned char>(c) >= 0x20) clean += c;
    out += (out.empty() ? "> " : "\n> ") + clean;
  }
  return clipped ? out + "\n> [clipped]" : out;
}

Result<PromptTemplate> PromptTemplate::parse(std::string_view text, const std::string& what) {
  PromptTemplate made;
  made.what_ = what;
  int number = 0;
  for (const std::string& line : lines_of(text)) {
    ++number;
    const auto wrong = [&](std::string_view why) {
      return bad_input(fmt::format("{}:{}: {}", what, number, why), "see prompts/README.md");
    };
    if (!line.starts_with("== ")) {
      if (!made.sections_.empty()) made.sections_.back().text += line + "\n";
      continue;
    }
    const std::vector<std::string> words = split_words(line.substr(3));
    if (words.size() == 1 && (words[0] == "system" || words[0] == "user" || words[0] == "assistant")) {
      made.roles_.push_back(words[0]);
      made.sections_.push_back({words[0], kStays, "", made.roles_.size() - 1});
    } else if (words.size() == 3 && words[0] == "section" && !made.roles_.empty()) {
      Section section{words[1], kStays, "", made.roles_.size() - 1};
      if (words[2] != "keep") {
        const auto read = std::from_chars(words[2].data(), words[2].data() + words[2].size(), section.importance);
        if (read.ec != std::errc() || section.importance < 0 || section.importance >= kStays)
          return wrong("an importance is 0 to 999, or keep");
      }
      made.sections_.push_back(std::move(section));
    } else {
      return wrong(fmt::format("'{}' is neither a message nor a section", line));
    }
  }
  if (made.roles_.empty() || made.roles_.back() != "user")
    return bad_input(what + ": a prompt ends with a user message", "see prompts/README.md");
  return made;
}

std::vector<std::string> PromptTemplate::names_in(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t at = text.find("{{"); at != std::string::npos; at = text.find("{{", at + 2)) {
    const std::size_t end = text.find("}}", at);
    if (end == std::string::npos) break;
    names.push_back(text.substr(at + 2, end - at - 2));
  }
  return names;
}

std::vector<std::string> PromptTemplate::names() const {
  std::set<std::string> all;
  for (const Section& section : sections_)
    for (const std::string& name : names_in(section.text)) all.insert(name);
  return {all.begin(), all.end()};
}

Result<Prompt> PromptTemplate::fill(const PromptValues& values, int most_tokens) const {
  struct Filled {
    const Section* section = nullptr;
    std::string text;
    bool left_out = false;
  };
  std::vector<Filled> filled;
  for (const Section& section : sections_) {
    Filled one{&section, ""};
    std::size_t given = 0, at = 0;
    const auto names = names_in(section.text);
    for (const std::string& name : names) {
      const auto value = values.find(name);
      if (value == values.end()) return internal_error(fmt::format("{}: nothing is known of {{{{{}}}}}", what_, name));
      const std::string mark = "{{" + name + "}}";
      const std::size_t place = section.text.find(mark, at);
      one.text += section.text.substr(at, place - at) + value->second;
      at = place + mark.size();
      given += value->second.empty() ? 0 : 1;
    }
    one.text += section.text.substr(at);
    if (names.empty() || given > 0) filled.push_back(std::move(one));
  }
  const auto joined = [&] {
    Prompt prompt;
    std::vector<bool> has_words(roles_.size(), false);
    for (const std::string& role : roles_) prompt.messages.push_back({role, ""});
    for (const Filled& one : filled) {
      prompt.messages[one.section->message].content +=
          one.left_out ? fmt::format("[left out to fit: {}]\n", one.section->name) : one.text;
      if (!one.left_out && one.text.find_first_not_of('\n') != std::string::npos) has_words[one.section->message] = true;
    }
    // An example that was left out takes its turn of the conversation with it.
    for (std::size_t i = 0; i < roles_.size(); ++i)
      if (!has_words[i]) prompt.messages[i].content.clear();
    for (ChatMessage& message : prompt.messages) {
      while (message.content.ends_with('\n')) message.content.pop_back();
      message.content.erase(0, std::min(message.content.find_first_not_of('\n'), message.content.size()));
    }
    std::erase_if(prompt.messages, [](const ChatMessage& message) { return message.content.empty(); });
    for (const ChatMessage& message : prompt.messages) prompt.tokens += kTokensOfAMessage + estimated_tokens(message.content);
    return prompt;
  };
  std::vector<std::string> left_out;
  for (;;) {
    Prompt prompt = joined();
    prompt.left_out = left_out;
    if (prompt.tokens <= most_tokens) return prompt;
    Filled* least = nullptr;
    for (Filled& one : filled)
      if (!one.left_out && one.section->importance < kStays &&
          (least == nullptr || one.section->importance < least->section->importance))
        least = &one;
    if (least == nullptr)
      return bad_input(fmt::format("{} needs about {} tokens where {} are left", what_, prompt.tokens, most_tokens),
                       "use a model with a longer context");
    left_out.push_back(least->section->name);
    for (Filled& one : filled) one.left_out = one.left_out || one.section->name == left_out.back();
  }
}

}  // namespace kw
