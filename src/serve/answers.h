// Records of the archive as the JSON that the viewer's pages ask for. Each answer opens the archive to read and closes it again, so
// that any number of threads may ask; what is costly to make and has not changed is kept.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "archive/archive.h"

namespace kw {

class Answers {
 public:
  explicit Answers(fs::path archive) : archive_(std::move(archive)) {}

  using Text = std::shared_ptr<const std::string>;
  Result<Text> runs() const;  // an empty list where there is no archive yet
  Result<Text> run(const std::string& id, std::int64_t first);
  Result<Text> kernel(const std::string& run, std::int64_t index) const;
  Result<Text> exchange(const std::string& run, std::int64_t id) const;
  [[nodiscard]] const fs::path& archive() const { return archive_; }

 private:
  struct Kept {
    std::string key;
    Text text;
  };
  fs::path archive_;
  std::mutex mutex_;      // of what follows
  std::list<Kept> kept_;  // the last asked for first
};

}  // namespace kw
