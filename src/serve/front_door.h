// Connections whose request has not arrived as a whole. One thread looks after all of them, so that a client which sends half of a
// request, or nothing, keeps nobody else from being answered.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>

#include "serve/request_head.h"

namespace kw {

// A request that may be answered, and what the client has sent behind it.
struct Arrived {
  int socket = -1;
  RequestHead head;
  std::string rest;
};

class FrontDoor {
 public:
  static constexpr std::size_t kMostWaiting = 512;      // beyond it the one that has waited longest is let go
  static constexpr std::chrono::seconds kPatience{10};  // for a request to arrive, and between two of one connection

  // `answer` is called by the thread of this object and must not wait. It owns the socket from then on.
  explicit FrontDoor(std::function<void(Arrived)> answer);
  ~FrontDoor();
  FrontDoor(const FrontDoor&) = delete;
  FrontDoor& operator=(const FrontDoor&) = delete;

  // Takes the socket over until its request is there. `arrived` is what has been read from it already.
  void wait_for_request(int socket, std::string arrived = {});
  // Closes it, once the client has seen the answer: what it still sends is passed over for a moment.
  void close_gently(int socket);

 private:
  using Clock = std::chrono::steady_clock;
  struct Guest {
    int socket;
    std::string arrived;
    Clock::time_point until;
    bool leaving = false;
  };
  void enter(Guest guest);
  void look();
  void take_in();
  [[nodiscard]] bool read_from(Guest& guest);
  [[nodiscard]] bool stays(Guest& guest);

  std::function<void(Arrived)> answer_;
  int wake_;          // an eventfd: somebody has come, or it is over
  std::mutex mutex_;  // of the next two
  std::list<Guest> newly_;
  bool over_ = false;
  std::list<Guest> guests_;  // of the thread alone; who came first stands first
  std::thread thread_;
};

}  // namespace kw
