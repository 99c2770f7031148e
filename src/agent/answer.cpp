#include "agent/answer.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace kw {
namespace {

constexpr std::size_t kLongestJson = 100'000;
constexpr std::array<std::string_view, 21> kFaultNames{
    "no_answer",   "empty",          "too_long",        "cut_off",        "no_code",      "several_blocks", "prose_in_code",
    "elided",      "wrong_language", "wrong_signature", "unclosed_fence", "no_json",      "broken_json",    "wrong_record",
    "absent_edit", "ambiguous_edit", "no_change",       "near_repeat",    "whole_kernel", "unproven",       "missing_header"};

// From one tag to the other; where the end is missing, to the end of the text: the answer was never given.
void remove_between(std::string& text, std::string_view begin, std::string_view end) {
  for (std::size_t from = text.find(begin); from != std::string::npos; from = text.find(begin)) {
    const std::size_t to = text.find(end, from);
    text.erase(from, to == std::string::npos ? std::string::npos : to + end.size() - from);
  }
  // Some servers send the thoughts without their opening tag.
  if (const std::size_t to = text.find(end); to != std::string::npos) text.erase(0, to + end.size());
}

// Commas before a closing bracket, outside of strings: the one mistake that many models make.
std::string without_trailing_commas(const std::string& text) {
  std::string out;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      out += c;
      if (c == '\\' && i + 1 < text.size()) out += text[++i];
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == ',') {
      const std::size_t next = text.find_first_not_of(" \t\r\n", i + 1);
      if (next != std::string::npos && (text[next] == '}' || text[next] == ']')) continue;
    }
    out += c;
  }
  return out;
}

// The object that begins here, up to its closing bracket; empty where there is none.
std::string balanced_object(const std::string& text, std::size_t begin) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (--depth == 0) return text.substr(begin, i + 1 - begin);
    }
  }
  return "";
}

Json read_object(const std::string& text) {
  return Json::parse(text, nullptr, /*allow_exceptions=*/false, /*ignore_comments=*/true);
}

}  // namespace

std::string_view name_of(AnswerFault fault) { return kFaultNames[static_cast<std::size_t>(fault)]; }

std::string plain_answer(std::string_view answer) {
  std::string text;
  text.reserve(answer.size());
  if (answer.starts_with("\xef\xbb\xbf")) answer.remove_prefix(3);
  for (std::size_t i = 0; i < answer.size(); ++i) {
    const char c = answer[i];
    if (c == '\r') {
      if (i + 1 >= answer.size() || answer[i + 1] != '\n') text += '\n';
    } else if (c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= 0x20) {
      text += c;
    }
  }
  remove_between(text, "<think>", "</think>");
  remove_between(text, "<thinking>", "</thinking>");
  return text;
}

JsonAnswer json_of_answer(std::string_view answer, std::string_view finish) {
  JsonAnswer found;
  const auto refuse = [&](AnswerFault kind, std::string detail) {
    found.fault = Fault{kind, std::move(detail)};
    return found;
  };
  if (answer.size() > kLongestJson)
    return refuse(AnswerFault::too_long, fmt::format("the answer has {} bytes; a record needs no more than a page", answer.size()));
  const std::string text = plain_answer(answer);
  if (text.find_first_not_of(" \t\n") == std::string::npos) return refuse(AnswerFault::empty, "the answer is empty");
  bool seen = false;
  for (std::size_t begin = text.find('{'); begin != std::string::npos; begin = text.find('{', begin + 1)) {
    const std::string object = balanced_object(text, begin);
    if (object.empty()) continue;
    Json json = read_object(object);
    if (json.is_discarded()) {
      json = read_object(without_trailing_commas(object));
      if (!json.is_discarded()) found.mended.push_back(AnswerFault::broken_json);
    }
    if (json.is_object()) {
      found.json = std::move(json);
      return found;
    }
    // What is inside a broken object is no answer.
    seen = true;
    begin += object.size() - 1;
  }
  if (finish == "length") return refuse(AnswerFault::cut_off, "the answer was cut off before the JSON object ended");
  if (seen) return refuse(AnswerFault::broken_json, "the JSON object cannot be read: check quotes, commas and brackets");
  if (text.find('{') != std::string::npos) return refuse(AnswerFault::broken_json, "the JSON object has no end");
  return refuse(AnswerFault::no_json, "the answer has no JSON object");
}

}  // namespace kw
