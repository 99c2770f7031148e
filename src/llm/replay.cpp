#include "llm/replay.h"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "base/files.h"
#include "base/json.h"
#include "llm/continuation.h"
#include "llm/recording.h"

namespace kw::llm {
namespace {

struct PromptLine {
  std::string role;
  int message = 0;  // from 1
  int line = 0;     // from 1 within the message
  std::string text;
};

std::vector<PromptLine> lines_of(const std::vector<ChatMessage>& messages) {
  std::vector<PromptLine> lines;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    int number = 0;
    for (std::size_t at = 0; at <= messages[i].content.size();) {
      const std::size_t end = std::min(messages[i].content.find('\n', at), messages[i].content.size());
      lines.push_back({messages[i].role, static_cast<int>(i) + 1, ++number, messages[i].content.substr(at, end - at)});
      at = end + 1;
    }
  }
  return lines;
}

bool same(const PromptLine& a, const PromptLine& b) { return a.role == b.role && a.text == b.text; }

std::size_t common_start(const std::vector<PromptLine>& a, const std::vector<PromptLine>& b) {
  std::size_t count = 0;
  while (count < a.size() && count < b.size() && same(a[count], b[count])) ++count;
  return count;
}

std::size_t common_end(const std::vector<PromptLine>& a, const std::vector<PromptLine>& b) {
  std::size_t count = 0;
  while (count < a.size() && count < b.size() && same(a[a.size() - 1 - count], b[b.size() - 1 - count])) ++count;
  return count;
}

// Around the first character that differs, so that a long line shows it too.
std::string shown(const std::string& text, std::size_t differs) {
  constexpr std::size_t kBefore = 40, kShown = 120;
  const std::size_t begin = differs > kBefore ? differs - kBefore : 0;
  return fmt::format("{}'{}'{}", begin ? "..." : "", as_utf8(text.substr(begin, kShown)),
                     begin + kShown < text.size() ? "..." : "");
}

class ReplayModel : public Model {
 public:
  ReplayModel(Recording recording, std::string file) : recording_(std::move(recording)), file_(std::move(file)) {
    for (std::size_t i = 0; i < recording_.exchanges.size(); ++i) waiting_[recording_.exchanges[i].prompt_hash].push_back(i);
  }

  Result<Exchange> chat(const ChatRequest& request) override {
    std::vector<ChatMessage> messages = request.messages;
    for (ChatMessage& message : messages) message.content = as_utf8(message.content);
    const std::string hash = prompt_hash(request.purpose, messages);
    const std::scoped_lock lock(mutex_);
    const auto found = waiting_.find(hash);
    if (found == waiting_.end())
      return bad_input(fmt::format("the {}'s prompt is not in the recording {}: {}", request.purpose, file_,
                                   where_it_differs(recording_, request.purpose, messages)),
                       "record the run again with --record: the prompts, the problem or the machine have changed");
    if (found->second.empty())
      return bad_input(fmt::format("the recording {} has no more answers for this prompt of the {}: all of them were used", file_,
                                   request.purpose),
                       "record the run again with --record: it asks more often now");
    const Exchange& exchange = recording_.exchanges[found->second.front()];
    found->second.pop_front();
    if (exchange.finish == kRefused) return bad_input(exchange.error, "so it was when the run was recorded");
    ++usage_.exchanges;
    usage_.input_tokens += exchange.input_tokens;
    usage_.output_tokens += exchange.output_tokens;
    usage_.usd += exchange.usd;
    return exchange;
  }
  [[nodiscard]] std::string name() const override { return recording_.name; }
  [[nodiscard]] int context_tokens() const override { return recording_.context_tokens; }
  [[nodiscard]] ModelUsage usage() const override {
    const std::scoped_lock lock(mutex_);
    return usage_;
  }

 private:
  const Recording recording_;
  const std::string file_;
  mutable std::mutex mutex_;
  std::map<std::string, std::deque<std::size_t>> waiting_;
  ModelUsage usage_;
};

}  // namespace

std::string where_it_differs(const Recording& recording, const std::string& purpose, const std::vector<ChatMessage>& messages) {
  const std::vector<PromptLine> asked = lines_of(messages);
  const Exchange* nearest = nullptr;
  std::size_t most = 0;
  for (const Exchange& exchange : recording.exchanges) {
    if (exchange.purpose != purpose) continue;
    const std::vector<PromptLine> lines = lines_of(exchange.messages);
    const std::size_t alike = common_start(asked, lines) + common_end(asked, lines);
    if (nearest && alike <= most) continue;
    nearest = &exchange;
    most = alike;
  }
  if (!nearest) return fmt::format("it has none of a {}", purpose);
  const std::vector<PromptLine> lines = lines_of(nearest->messages);
  const std::size_t at = common_start(asked, lines);
  const auto number = nearest - recording.exchanges.data() + 1;
  if (at >= asked.size() || at >= lines.size()) {
    const bool shorter = at >= asked.size();
    const PromptLine& extra = shorter ? lines[at] : asked[at];
    return fmt::format("the nearest, exchange {}, is the same until its line {} of message {} ({}), where {} goes on with {}",
                       number, extra.line, extra.message, extra.role, shorter ? "only the recorded one" : "only the one now",
                       shown(extra.text, 0));
  }
  const auto differ = std::mismatch(asked[at].text.begin(), asked[at].text.end(), lines[at].text.begin(), lines[at].text.end());
  const auto column = static_cast<std::size_t>(differ.first - asked[at].text.begin());
  return fmt::format("the nearest, exchange {}, differs first in line {} of message {} ({}): recorded {}, now {}", number,
                     asked[at].line, asked[at].message, asked[at].role, shown(lines[at].text, column),
                     shown(asked[at].text, column));
}

Result<Recording> read_recording(const std::string& file) {
  KW_TRY(const std::string text, read_file(file));
  Recording recording;
  int number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    // A line without an end was being written when its program was killed: the exchange did not count there either.
    if (end == std::string::npos && number > 0) break;
    const std::string line = text.substr(at, end - at);
    at = end == std::string::npos ? text.size() : end + 1;
    ++number;
    const auto json = parse_json(line, "");
    if (number == 1) {
      auto header = json ? read_fields("",
                                       [&] {
                                         recording.name = json->at("name").get<std::string>();
                                         recording.context_tokens = json->at("context_tokens").get<int>();
                                         return json->at("recording").get<int>();
                                       })
                         : Result<int>(0);
      if (!header || *header != kRecordingVersion)
        return bad_input(fmt::format("{} is no recording of a model", file), "name a file that --record wrote");
      continue;
    }
    auto exchange = json ? read_fields("", [&] { return json->get<Exchange>(); }) : Result<Exchange>(bad_input(""));
    if (!exchange)
      return bad_input(fmt::format("line {} of the recording {} is no exchange", number, file),
                       "remove that line, or record again");
    // Recordings are text that people may edit: the hash is that of the messages as they stand.
    exchange->prompt_hash = prompt_hash(exchange->purpose, exchange->messages);
    recording.exchanges.push_back(std::move(*exchange));
  }
  if (number == 0) return bad_input(fmt::format("the recording {} is empty", file), "name a file that --record wrote");
  return recording;
}

Result<std::unique_ptr<Model>> replayed(const std::string& file) {
  KW_TRY(Recording recording, read_recording(file));
  return std::unique_ptr<Model>(std::make_unique<ReplayModel>(std::move(recording), file));
}

}  // namespace kw::llm
