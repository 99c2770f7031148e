#include "agent/record_check.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw {
namespace {
const Json kNoList = Json::array();
}  // namespace

void RecordCheck::problem(const std::string& field, const std::string& what) {
  problems_.push_back(fmt::format("{}: {}", path_of(field), what));
}

std::string RecordCheck::text(const std::string& field, std::size_t longest) {
  if (!has(field)) return problem(field, "is missing"), "";
  const Json& value = json_.at(field);
  if (!value.is_string()) return problem(field, "must be a text"), "";
  std::string text = value.get<std::string>();
  // What is printed later must not command a terminal.
  std::erase_if(text, [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f; });
  if (text.find_first_not_of(" \t\n") == std::string::npos) return problem(field, "is empty"), "";
  if (text.size() > longest) return problem(field, fmt::format("has {} characters, at most {} are read", text.size(), longest)), "";
  return text;
}

std::string RecordCheck::optional_text(const std::string& field, std::size_t longest) {
  if (!has(field) || (json_.at(field).is_string() && json_.at(field).get_ref<const std::string&>().empty())) return "";
  return text(field, longest);
}

double RecordCheck::number(const std::string& field, double lowest, double highest) {
  if (!has(field)) return problem(field, "is missing"), 0;
  const Json& value = json_.at(field);
  const double number = value.is_number() ? value.get<double>() : 0;
  if (!value.is_number() || !(number >= lowest && number <= highest))
    return problem(field, fmt::format("must be a number from {} to {}", lowest, highest)), 0;
  return number;
}

std::string RecordCheck::one_of(const std::string& field, std::span<const std::string_view> words) {
  std::string word = text(field, 100);
  if (!word.empty() && std::find(words.begin(), words.end(), word) == words.end()) {
    problem(field, fmt::format("'{}' is none of: {}", word, fmt::join(words, ", ")));
    return "";
  }
  return word;
}

bool RecordCheck::yes_or_no(const std::string& field) {
  if (has(field) && json_.at(field).is_boolean()) return json_.at(field).get<bool>();
  problem(field, "must be true or false");
  return false;
}

const Json& RecordCheck::list(const std::string& field, std::size_t fewest, std::size_t most) {
  if (!has(field) && fewest == 0) return kNoList;
  if (!has(field)) return problem(field, "is missing"), kNoList;
  const Json& value = json_.at(field);
  if (!value.is_array()) return problem(field, "must be a list"), kNoList;
  if (value.size() < fewest || value.size() > most)
    return problem(field, fmt::format("has {} entries, {} to {} are expected", value.size(), fewest, most)), kNoList;
  return value;
}

std::vector<std::string> RecordCheck::optional_texts(const std::string& field, std::size_t most, std::size_t longest) {
  std::vector<std::string> texts;
  for (const Json& each : list(field, 0, most)) {
    if (each.is_string() && each.get_ref<const std::string&>().size() <= longest)
      texts.push_back(each.get<std::string>());
    else
      problem(field, fmt::format("must be a list of texts of at most {} characters", longest));
  }
  return texts;
}

RecordCheck RecordCheck::part(const Json& json, const std::string& path) const {
  RecordCheck check(json);
  check.path_ = path_of(path);
  if (!json.is_object()) check.problems_.push_back(check.path_ + ": must be an object");
  return check;
}

void RecordCheck::take(const RecordCheck& part) { problems_.insert(problems_.end(), part.problems_.begin(), part.problems_.end()); }

std::string RecordCheck::problem_text() const { return fmt::format("{}", fmt::join(problems_, "\n")); }

}  // namespace kw
