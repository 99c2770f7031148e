// Ctrl-C as a wish to end well: the first one asks, the second one ends the program at once.
#pragma once

#include <atomic>

namespace kw {

class Interruption {
 public:
  Interruption();   // SIGINT and SIGTERM are asked for from now on
  ~Interruption();  // and are as before
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  [[nodiscard]] const std::atomic<bool>& wanted() const;
};

}  // namespace kw
