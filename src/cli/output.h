// Where a command's words go: results to standard output, progress to a terminal only, errors to standard error; one JSON
// object instead of all that with --json.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "report/terminal.h"

namespace kw {

class Output {
 public:
  explicit Output(bool json);

  [[nodiscard]] bool json() const { return json_; }
  [[nodiscard]] const Paint& paint() const { return paint_; }
  // A line that the next one overwrites; nothing where standard error is no terminal.
  void progress(std::string_view text);
  // The result: text for people, or its JSON.
  void result(const std::string& text, const Json& json);
  void error(const Error& error);

 private:
  void clear_progress();
  bool json_;
  bool live_;
  bool progress_shown_ = false;
  Paint paint_;
};

// Whether a file can be written there, before anything long is begun; empty: into the current folder.
Status check_out(const std::string& out);

}  // namespace kw
