// Reads the fields of a record that a model wrote. Every problem names its field and says what would be right, so that the list
// can be handed back to the model as it is. It never guesses a value.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"

namespace kw {

class RecordCheck {
 public:
  explicit RecordCheck(const Json& json) : json_(json) {}

  // Required; the value is empty or 0 where there is a problem.
  std::string text(const std::string& field, std::size_t longest);
  double number(const std::string& field, double lowest, double highest);
  std::string one_of(const std::string& field, std::span<const std::string_view> words);
  bool yes_or_no(const std::string& field);
  const Json& list(const std::string& field, std::size_t fewest, std::size_t most);
  // May be missing or null.
  std::string optional_text(const std::string& field, std::size_t longest);
  std::vector<std::string> optional_texts(const std::string& field, std::size_t most, std::size_t longest);
  [[nodiscard]] bool has(const std::string& field) const { return json_.contains(field) && !json_.at(field).is_null(); }

  // A part of it: its problems are reported under this path. Hand them back with `take`.
  [[nodiscard]] RecordCheck part(const Json& json, const std::string& path) const;
  void take(const RecordCheck& part);

  void problem(const std::string& field, const std::string& what);
  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }
  [[nodiscard]] std::string problem_text() const;

 private:
  [[nodiscard]] std::string path_of(const std::string& field) const { return path_.empty() ? field : path_ + "." + field; }

  const Json& json_;
  std::string path_;
  std::vector<std::string> problems_;
};

}  // namespace kw
