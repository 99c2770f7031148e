#include "serve/front_door.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <vector>

#include <fmt/format.h>

namespace kw {
namespace {

constexpr std::chrono::seconds kFarewell{1};

void refuse(int socket, int status) {
  const std::string said = fmt::format("HTTP/1.1 {} {}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", status,
                                       status == 431 ? "Request Header Fields Too Large" : "Bad Request");
  // One that does not take this much at once gets no answer.
  (void)::send(socket, said.data(), said.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace

FrontDoor::FrontDoor(std::function<void(Arrived)> answer)
    : answer_(std::move(answer)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), thread_([this] { look(); }) {}

FrontDoor::~FrontDoor() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  ::eventfd_write(wake_, 1);
  thread_.join();
  for (const auto* all : {&guests_, &newly_})
    for (const Guest& guest : *all) ::close(guest.socket);
  ::close(wake_);
}

void FrontDoor::wait_for_request(int socket, std::string arrived) { enter({socket, std::move(arrived), Clock::now() + kPatience}); }

void FrontDoor::close_gently(int socket) {
  ::shutdown(socket, SHUT_WR);
  enter({socket, "", Clock::now() + kFarewell, true});
}

void FrontDoor::enter(Guest guest) {
  {
    const std::lock_guard lock(mutex_);
    newly_.push_back(std::move(guest));
  }
  ::eventfd_write(wake_, 1);
}

void FrontDoor::look() {
  std::vector<pollfd> polled;
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (over_) return;
    }
    take_in();
    polled.assign(1, {wake_, POLLIN, 0});
    auto next = Clock::now() + kPatience;
    for (const Guest& guest : guests_) {
      polled.push_back({guest.socket, POLLIN, 0});
      next = std::min(next, guest.until);
    }
    const auto patience = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
    ::poll(polled.data(), polled.size(), static_cast<int>(std::max<std::int64_t>(patience, 0)));
    std::size_t at = 1;
    for (auto guest = guests_.begin(); guest != guests_.end(); ++at) {
      const bool here = (polled[at].revents == 0 || read_from(*guest)) && stays(*guest);
      guest = here ? std::next(guest) : guests_.erase(guest);
    }
  }
}

// A guest may come with a whole request, which was sent behind the one before it.
void FrontDoor::take_in() {
  eventfd_t count;
  ::eventfd_read(wake_, &count);
  std::list<Guest> newly;
  {
    const std::lock_guard lock(mutex_);
    newly.swap(newly_);
  }
  for (auto guest = newly.begin(); guest != newly.end();) guest = stays(*guest) ? std::next(guest) : newly.erase(guest);
  guests_.splice(guests_.end(), newly);
  for (; guests_.size() > kMostWaiting; guests_.pop_front()) ::close(guests_.front().socket);
}

// False: it has hung up, and is closed.
bool FrontDoor::read_from(Guest& guest) {
  std::array<char, 16384> bytes;
  const ssize_t count = ::recv(guest.socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (count > 0 && !guest.leaving) guest.arrived.append(bytes.data(), static_cast<std::size_t>(count));
  if (count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR))) return true;
  ::close(guest.socket);
  return false;
}

// False: it is no longer ours. It was closed, or its request is being answered.
bool FrontDoor::stays(Guest& guest) {
  if (guest.leaving) {
    if (Clock::now() < guest.until) return true;
    ::close(guest.socket);
    return false;
  }
  const auto end = end_of_head(guest.arrived);
  if (!end && guest.arrived.size() <= kLongestHead) {
    if (Clock::now() < guest.until) return true;
    ::close(guest.socket);
    return false;
  }
  RequestHead head = read_head(std::string_view(guest.arrived).substr(0, end.value_or(std::string::npos)));
  if (head.refused == 0) {
    answer_({guest.socket, std::move(head), guest.arrived.substr(*end)});
    return false;
  }
  refuse(guest.socket, head.refused);
  ::shutdown(guest.socket, SHUT_WR);
  guest = {guest.socket, "", Clock::now() + kFarewell, true};
  return true;
}

}  // namespace kw
