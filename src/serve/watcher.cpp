#include "serve/watcher.h"

#include "base/json.h"

namespace kw {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{300};

}  // namespace

Watcher::Watcher(fs::path archive) : archive_(std::move(archive)), thread_([this] { look(); }) {}

Watcher::~Watcher() {
  end();
  thread_.join();
}

void Watcher::end() {
  ended_ = true;
  changed_.notify_all();
}

void Watcher::look() {
  std::optional<Archive> archive;
  std::int64_t version = -1;  // none was seen
  while (!ended_) {
    if (listeners_ > 0 && !archive) {
      if (auto opened = Archive::open_to_read(archive_)) archive.emplace(std::move(*opened));  // else there is none yet
      version = -1;
    }
    if (listeners_ > 0 && archive) {
      const auto now = archive->runs().data_version();
      if (!now) {
        archive.reset();  // it was moved away: looked for again
      } else if (version != *now) {
        if (const auto states = archive->runs().states()) {
          version = *now;
          std::map<std::string, RunState> fresh;
          for (const RunState& state : *states) fresh.emplace(state.id, state);
          const std::lock_guard lock(mutex_);
          states_ = std::move(fresh);
          changed_.notify_all();
        }
      }
    }
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kBetweenLooks, [this] { return ended_.load(); });
  }
}

std::optional<std::string> Watcher::Listener::next(std::chrono::milliseconds patience) {
  std::unique_lock lock(watcher_.mutex_);
  const auto is_new = [&] { return watcher_.ended_ || (!seen_ ? !watcher_.states_.empty() : *seen_ != watcher_.states_); };
  if (!watcher_.changed_.wait_for(lock, patience, is_new) || watcher_.ended_) return std::nullopt;
  Json runs = Json::array();
  for (const auto& [id, state] : watcher_.states_) {
    if (seen_ && seen_->contains(id) && seen_->at(id) == state) continue;
    runs.push_back({{"id", id}, {"state", state.state}, {"individuals", state.individuals}, {"updated_at", state.updated_at}});
  }
  seen_ = watcher_.states_;
  return runs.dump();
}

}  // namespace kw
