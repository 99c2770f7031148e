// Sees that another process has written the archive: one thread looks for all listeners, and only while there are any.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "archive/archive.h"

namespace kw {

class Watcher {
 public:
  explicit Watcher(fs::path archive);
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // Of a listener while it lives.
  class Listener {
   public:
    explicit Listener(Watcher& watcher) : watcher_(watcher) { ++watcher_.listeners_; }
    ~Listener() { --watcher_.listeners_; }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    // JSON of the runs that have changed since the last call; none after a while without a change, or when the watcher ends.
    std::optional<std::string> next(std::chrono::milliseconds patience);

   private:
    Watcher& watcher_;
    std::optional<std::map<std::string, RunState>> seen_;
  };

  void end();
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] int listeners() const { return listeners_; }

 private:
  void look();
  fs::path archive_;
  std::atomic<int> listeners_{0};
  std::atomic<bool> ended_{false};
  std::mutex mutex_;  // of states_
  std::condition_variable changed_;
  std::map<std::string, RunState> states_;
  std::thread thread_;
};

}  // namespace kw
