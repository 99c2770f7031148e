#include "llm/recording.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>

#include <fmt/format.h>

#include "base/files.h"
#include "llm/continuation.h"
#include "llm/replay.h"

namespace kw::llm {
namespace {

Json header_of(const Model& model) {
  return {{"recording", kRecordingVersion}, {"name", model.name()}, {"context_tokens", model.context_tokens()}};
}

class RecordingModel : public Model {
 public:
  RecordingModel(std::unique_ptr<Model> model, int fd, std::string file)
      : model_(std::move(model)), fd_(fd), file_(std::move(file)) {}
  ~RecordingModel() override { ::close(fd_); }

  Result<Exchange> chat(const ChatRequest& request) override {
    auto answered = model_->chat(request);
    if (answered) {
      KW_CHECK(append(*answered));
      return answered;
    }
    // What ended the model's part of a run ends it again when the run is played back.
    Exchange ending;
    ending.purpose = request.purpose;
    ending.model = model_->name();
    for (const ChatMessage& message : request.messages) ending.messages.push_back({message.role, as_utf8(message.content)});
    ending.prompt_hash = prompt_hash(ending.purpose, ending.messages);
    ending.finish = kRefused;
    ending.error = answered.error().message;
    KW_CHECK(append(ending));
    return answered;
  }
  [[nodiscard]] std::string name() const override { return model_->name(); }
  [[nodiscard]] int context_tokens() const override { return model_->context_tokens(); }
  [[nodiscard]] ModelUsage usage() const override { return model_->usage(); }

  Status append(const Json& line) {
    const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    const std::scoped_lock lock(mutex_);
    for (std::size_t written = 0; written < text.size();) {
      const ssize_t put = ::write(fd_, text.data() + written, text.size() - written);
      if (put < 0 && errno == EINTR) continue;
      if (put < 0)
        return internal_error(fmt::format("cannot write the recording {}: {}", file_, std::strerror(errno)),
                              "check the free disk space");
      written += static_cast<std::size_t>(put);
    }
    return {};
  }

 private:
  std::unique_ptr<Model> model_;
  int fd_;
  std::string file_;
  std::mutex mutex_;
};

}  // namespace

Result<std::unique_ptr<Model>> recorded(std::unique_ptr<Model> model, const std::string& file) {
  const Json header = header_of(*model);
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0)
    return bad_input(fmt::format("cannot write the recording {}: {}", file, std::strerror(errno)), "check the path of --record");
  const bool is_new = ::lseek(fd, 0, SEEK_END) == 0;
  auto recording = std::make_unique<RecordingModel>(std::move(model), fd, file);
  if (is_new) {
    KW_CHECK(recording->append(header));
    return std::unique_ptr<Model>(std::move(recording));
  }
  KW_TRY(const Recording earlier, read_recording(file));
  // A last line that was not finished, because its program was killed, would spoil the next one.
  KW_TRY(const std::string text, read_file(file));
  if (::ftruncate(fd, static_cast<off_t>(text.rfind('\n') + 1)) != 0)
    return internal_error(fmt::format("cannot write the recording {}: {}", file, std::strerror(errno)));
  if (earlier.name != recording->name() || earlier.context_tokens != recording->context_tokens())
    return bad_input(fmt::format("{} is a recording of '{}', not of '{}'", file, earlier.name, recording->name()),
                     "name another file for --record");
  return std::unique_ptr<Model>(std::move(recording));
}

}  // namespace kw::llm
