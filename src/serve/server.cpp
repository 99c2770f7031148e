#include "serve/server.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <memory>

namespace kw {
namespace {

using Clock = std::chrono::steady_clock;

// As long as one piece of an answer may take to be taken by its client.
constexpr std::chrono::seconds kPatience{30};

// The library calls it in the thread that accepts connections, which only hands each to the front door.
class AtOnce : public httplib::TaskQueue {
 public:
  void enqueue(std::function<void()> job) override { job(); }
  void shutdown() override {}
};

// Reads the head that was let through and nothing else; writes to the socket.
class Conversation : public httplib::Stream {
 public:
  Conversation(std::string_view head, int socket, const std::atomic<bool>& over) : head_(head), socket_(socket), over_(over) {}

  [[nodiscard]] bool is_readable() const override { return !head_.empty(); }
  [[nodiscard]] bool is_writable() const override { return ready_to_write(Clock::now() + kPatience); }
  ssize_t read(char* to, std::size_t size) override {
    const std::size_t count = head_.copy(to, size);
    head_.remove_prefix(count);
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* from, std::size_t size) override {
    const auto until = Clock::now() + kPatience;
    for (std::size_t done = 0; done < size;) {
      const ssize_t count = ::send(socket_, from + done, size - done, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (count > 0) {
        done += static_cast<std::size_t>(count);
      } else if (errno != EINTR) {
        if (errno != EAGAIN || !ready_to_write(until)) return -1;
      }
    }
    return static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = -1; }
  void get_local_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = -1; }
  [[nodiscard]] int socket() const override { return socket_; }

 private:
  [[nodiscard]] bool ready_to_write(Clock::time_point until) const {
    pollfd polled{socket_, POLLOUT, 0};
    constexpr int kBetweenLooks = 200;  // milliseconds
    while (::poll(&polled, 1, kBetweenLooks) == 0)
      if (over_ || Clock::now() >= until) return false;
    return (polled.revents & POLLOUT) != 0;
  }

  std::string_view head_;
  int socket_;
  const std::atomic<bool>& over_;
};

}  // namespace

Server::Server(std::size_t threads)
    : threads_(threads), door_([this](Arrived arrived) {
        threads_.enqueue([this, kept = std::make_shared<const Arrived>(std::move(arrived))] { answer(*kept); });
      }) {
  new_task_queue = [] { return new AtOnce; };
}

Server::~Server() {
  over_ = true;
  threads_.shutdown();
}

bool Server::process_and_close_socket(int socket) {
  door_.wait_for_request(socket);
  return true;
}

void Server::answer(const Arrived& arrived) {
  Conversation conversation(arrived.head.text, arrived.socket, over_);
  bool closed = false;
  const bool answered = process_request(conversation, arrived.head.last, closed, nullptr);
  if (answered && !closed && !arrived.head.last)
    door_.wait_for_request(arrived.socket, arrived.rest);
  else
    door_.close_gently(arrived.socket);
}

}  // namespace kw
