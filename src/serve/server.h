// The HTTP library's server behind a front door of ours: a thread is held for a request only once that is there as a whole, and the
// library reads nothing but the lines that the front door lets through. No ranges, no bodies, no compression.
#pragma once

#include <atomic>

#include <httplib.h>

#include "serve/front_door.h"

namespace kw {

class Server : public httplib::Server {
 public:
  explicit Server(std::size_t threads);
  ~Server() override;

 private:
  bool process_and_close_socket(int socket) override;
  void answer(const Arrived& arrived);

  std::atomic<bool> over_{false};  // a client that does not read its answer is waited for no longer
  httplib::ThreadPool threads_;
  FrontDoor door_;  // ends before the threads, which may still give a connection back to it
};

}  // namespace kw
