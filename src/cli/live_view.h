// A run as it goes: a table that redraws itself on a terminal, now and then a plain line elsewhere, nothing with --json.
#pragma once

#include <chrono>
#include <string>

#include "cli/output.h"
#include "search/run.h"

namespace kw {

class LiveView {
 public:
  explicit LiveView(const Output& output);
  ~LiveView();
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;
  void show(const RunProgress& progress);

 private:
  enum class Form { table, lines, silent };
  void draw(const std::string& table);
  Form form_;
  Paint paint_;
  int lines_drawn_ = 0;
  int last_evaluations_ = -1;
  double last_best_ = 0;
  std::string confirming_;  // the phase that was announced
  std::chrono::steady_clock::time_point last_line_ = std::chrono::steady_clock::now();
};

}  // namespace kw
