// A trusted helper that is given one line of JSON and says lines of JSON. It ends when its standard input does, which the system
// closes with this process, however that dies.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace kw::llm {

class HelperProcess {
 public:
  // `python_path` is where its own modules are. What it writes to standard error is kept for error messages.
  static Result<HelperProcess> start(const std::vector<std::string>& argv, const std::string& python_path, const Json& options);
  HelperProcess(HelperProcess&& other) noexcept;
  HelperProcess& operator=(HelperProcess&& other) noexcept;
  HelperProcess(const HelperProcess&) = delete;
  HelperProcess& operator=(const HelperProcess&) = delete;
  ~HelperProcess();  // ends it

  enum class Said { something, nothing_yet, gone };
  // The next object that it says; lines that are none are skipped.
  Said next(Json& said, std::chrono::milliseconds patience);
  [[nodiscard]] bool alive();
  [[nodiscard]] std::string last_words() const;  // of its standard error, on one line

 private:
  HelperProcess() = default;
  void swap(HelperProcess& other);

  pid_t pid_ = -1;
  int to_child_ = -1, from_child_ = -1, errors_ = -1;
  std::string unread_;
};

// The Python that helpers are run with: $KERNELWRIGHT_PYTHON, else the project's own environment, else python3.
Result<std::string> helper_python();

}  // namespace kw::llm
