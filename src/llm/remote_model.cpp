#include "llm/remote_model.h"

#include <chrono>
#include <thread>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "llm/continuation.h"

namespace kw::llm {
namespace {

using WaitClock = std::chrono::steady_clock;

std::int64_t bytes_of(const ChatRequest& request) {
  std::size_t bytes = 0;
  for (const ChatMessage& message : request.messages) bytes += message.content.size();
  return static_cast<std::int64_t>(bytes);
}

std::string now_text() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

bool is_blank(const std::string& text) { return text.find_first_not_of(" \t\r\n") == std::string::npos; }

Error cancelled_error() { return bad_input("the model's answer was not waited for: cancelled", "run the command again"); }

// What a server sends is quoted instead of what a parser says of it.
Error not_understood(const std::string& data) {
  return internal_error(fmt::format("'{}' cannot be understood", as_utf8(data.substr(0, 100))));
}

}  // namespace

// One of the places for requests under way.
class RemoteModel::Slot {
 public:
  explicit Slot(RemoteModel& model) : model_(model) {
    std::unique_lock lock(model_.mutex_);
    while (model_.in_flight_ >= model_.settings_.limits.in_flight) model_.freed_.wait(lock);
    ++model_.in_flight_;
  }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  ~Slot() {
    const std::scoped_lock lock(model_.mutex_);
    --model_.in_flight_;
    model_.freed_.notify_one();
  }

 private:
  RemoteModel& model_;
};

RemoteModel::RemoteModel(Settings settings, std::string provider_name, std::function<Result<Endpoint>()> endpoint,
                         const ModelOptions& options)
    : settings_(std::move(settings)),
      provider_name_(std::move(provider_name)),
      endpoint_(std::move(endpoint)),
      progress_(options.progress),
      cancelled_(options.cancelled),
      budget_(settings_.limits.max_usd, settings_.limits.max_tokens, settings_.price.value_or(Price{})) {}

ModelUsage RemoteModel::usage() const {
  const std::scoped_lock lock(mutex_);
  return {exchanges_, faults_, budget_.input_tokens(), budget_.output_tokens(), budget_.usd(), budget_.refused()};
}

void RemoteModel::say(const std::string& text) const {
  if (progress_) progress_(text);
}

Status RemoteModel::wait(double seconds) const {
  const auto end = WaitClock::now() + std::chrono::duration<double>(seconds);
  while (WaitClock::now() < end) {
    if (is_cancelled()) return cancelled_error();
    const auto left = std::chrono::duration_cast<std::chrono::microseconds>(end - WaitClock::now());
    std::this_thread::sleep_for(std::min<std::chrono::microseconds>(left, std::chrono::milliseconds(50)));
  }
  return {};
}

int RemoteModel::longest_answer(const ChatRequest& request) const {
  std::int64_t tokens = request.max_tokens > 0 ? request.max_tokens : settings_.limits.answer_tokens;
  if (settings_.output_tokens > 0) tokens = std::min<std::int64_t>(tokens, settings_.output_tokens);
  // Four bytes a token is what most prompts have at the most: room that the prompt surely takes is not promised to the answer.
  constexpr std::int64_t kLeast = 64;
  return static_cast<int>(std::max(kLeast, std::min(tokens, settings_.context_tokens - bytes_of(request) / 4)));
}

// What a response with status 200 is worth.
void RemoteModel::judge_reply(const HttpResponse& response, const Status& stream, Attempt& attempt) const {
  Reply& reply = attempt.reply;
  const auto longest = static_cast<std::size_t>(settings_.limits.answer_bytes);
  const auto fault = [&](Fault kind, std::string why) { attempt.judgement = {.fault = kind, .why = std::move(why), .hint = ""}; };
  if (reply.text.size() > longest) {
    reply.text = as_utf8(reply.text.substr(0, longest));
    return fault(Fault::prompt, fmt::format("the answer is longer than {} bytes and was cut off", longest));
  }
  if (!stream) return fault(Fault::again, fmt::format("the answer is malformed: {}", stream.error().message));
  if (!reply.refusal.empty())
    return fault(reply.try_again ? Fault::again : Fault::prompt, fmt::format("the server broke off: {}", reply.refusal));
  if (!reply.complete) {
    const std::string reason = response.reason.empty() ? "the stream ended early" : response.reason;
    return fault(response.ending == HttpEnding::cancelled ? Fault::fatal : Fault::again,
                 fmt::format("the answer broke off after {} bytes: {}", reply.text.size(), reason));
  }
  if (is_blank(reply.text))
    return fault(reply.finish == "length" ? Fault::prompt : Fault::again,
                 reply.finish == "length" ? "the answer was cut off before its first word" : "the answer is empty");
}

RemoteModel::Attempt RemoteModel::attempt(const Endpoint& endpoint, const ChatRequest& request, int max_tokens,
                                          Exchange& exchange) {
  const Provider& provider = *settings_.provider;
  TurnedDown turned_down;
  {
    const std::scoped_lock lock(mutex_);
    turned_down = turned_down_;
  }
  Attempt attempt;
  attempt.key = endpoint.key;
  Reply& reply = attempt.reply;
  Status stream;
  SseReader reader([&](const SseEvent& event) -> Status {
    if (!provider.read_event(event, reply)) return not_understood(event.data);
    return {};
  });
  auto told = WaitClock::now();
  HttpRequest http_request;
  http_request.url = endpoint_url(provider, endpoint.base_url);
  http_request.headers = provider.headers(endpoint.key.reveal());
  http_request.body = provider.body(request, settings_.model, max_tokens, turned_down).dump();
  http_request.connect_seconds = settings_.limits.connect_seconds;
  http_request.idle_seconds = settings_.limits.idle_seconds;
  http_request.total_seconds = settings_.limits.total_seconds;
  http_request.cancelled = cancelled_;
  http_request.on_stream = [&](std::string_view piece) {
    stream = reader.feed(piece);
    if (WaitClock::now() - told > std::chrono::seconds(1)) {
      told = WaitClock::now();
      say(fmt::format("{}: {} has written {} characters", request.purpose, settings_.model, reply.text.size()));
    }
    return stream.ok() && reply.text.size() <= static_cast<std::size_t>(settings_.limits.answer_bytes);
  };
  ++exchange.attempts;
  HttpResponse response = http(http_request);
  // Whatever a server sends back may quote the request's headers.
  for (std::string* text : {&response.body, &response.reason, &response.location, &reply.text, &reply.refusal})
    *text = as_utf8(endpoint.key.redact(*text));
  if (!stream) stream.error().message = endpoint.key.redact(stream.error().message);
  if (response.status != 200) {
    attempt.judgement = judge_response(response, provider, turned_down, settings_.model, endpoint.base_url);
    return attempt;
  }
  if (response.body.starts_with("data:") || response.body.starts_with("event:")) {  // a stream that is not called one
    stream = reader.feed(response.body);
  } else if (!response.body.empty()) {
    const auto whole = parse_json(response.body, "");
    if (!whole || !provider.read_whole(*whole, reply)) stream = not_understood(response.body);
  }
  judge_reply(response, stream, attempt);
  return attempt;
}

Status RemoteModel::wait_before_retry(const Judgement& judgement, int attempt, const std::string& purpose) {
  double chance = 0;
  {
    const std::scoped_lock lock(mutex_);
    chance = std::uniform_real_distribution<double>(0, 1)(jitter_);
  }
  const ModelLimits& limits = settings_.limits;
  const double own = backoff(limits.backoff_seconds, attempt, limits.patience_seconds, chance);
  const double seconds = std::max(judgement.wait_seconds.value_or(0), own);
  say(fmt::format("{}: {}; again in {:.1f} s", purpose, judgement.why, seconds));
  return wait(seconds);
}

// One answer, after as many attempts as it takes; what is in its judgement did not go away.
Result<RemoteModel::Attempt> RemoteModel::ask(const ChatRequest& request, int max_tokens, Exchange& exchange) {
  const std::int64_t bytes = bytes_of(request);
  for (int number = 1;; ++number) {
    if (is_cancelled()) return cancelled_error();
    KW_TRY(const Endpoint endpoint, endpoint_());
    const std::int64_t input_aside = estimate_.tokens(bytes);
    KW_CHECK(budget_.set_aside(input_aside, max_tokens));
    say(fmt::format("{}: waiting for {}", request.purpose, settings_.model));
    Attempt tried = attempt(endpoint, request, max_tokens, exchange);
    Reply& reply = tried.reply;
    // An answer that broke off is paid for; how long it was has to be guessed.
    if (!reply.text.empty() && reply.input_tokens == 0) reply.input_tokens = input_aside;
    if (!reply.text.empty() && reply.output_tokens == 0)
      reply.output_tokens = estimate_.tokens(static_cast<std::int64_t>(reply.text.size()));
    exchange.usd += budget_.settle(input_aside, max_tokens, reply.input_tokens, reply.output_tokens);
    exchange.input_tokens += reply.input_tokens;
    exchange.output_tokens += reply.output_tokens;
    if (tried.judgement.fault == Fault::none) {
      estimate_.learn(bytes, reply.input_tokens);
      return tried;
    }
    Judgement& judgement = tried.judgement;
    {
      const std::scoped_lock lock(mutex_);
      ++faults_;
      if (judgement.fault == Fault::adapt) turned_down_.insert(judgement.turned_down);
    }
    if (judgement.fault == Fault::adapt) {
      --number;  // each field can be turned down only once
      continue;
    }
    if (judgement.fault == Fault::fatal) return bad_input(judgement.why, judgement.hint);
    if (judgement.fault == Fault::prompt) return tried;
    const bool too_long = judgement.wait_seconds.value_or(0) > settings_.limits.patience_seconds;
    if (number >= settings_.limits.attempts || too_long) {
      if (too_long) judgement.why += fmt::format("; it asks to wait {:.0f} s, which is too long", *judgement.wait_seconds);
      if (number > 1) judgement.why += fmt::format(" (after {} attempts)", number);
      if (judgement.fatal_at_last) return bad_input(judgement.why, judgement.hint);
      return tried;
    }
    KW_CHECK(wait_before_retry(judgement, number, request.purpose));
  }
}

// The whole answer, continued where it was cut off. What was already written is never lost to a fault in a later piece.
Status RemoteModel::answer(const ChatRequest& request, Exchange& exchange) {
  if (bytes_of(request) / 8 > settings_.context_tokens) {
    exchange.finish = "error";
    exchange.error = fmt::format("the prompt has {} bytes, too many for a model that reads {} tokens", bytes_of(request),
                                 settings_.context_tokens);
    return {};
  }
  ChatRequest turn = request;
  for (int piece = 0;; ++piece) {
    auto asked = ask(turn, longest_answer(turn), exchange);
    const bool failed = !asked || asked->judgement.fault != Fault::none;
    if (!asked && piece == 0) return std::move(asked.error());
    if (failed && piece > 0) {
      exchange.finish = "length";
      exchange.error = asked ? asked->judgement.why : asked.error().message;
      return {};
    }
    // Joined pieces may make a key whole that no piece had.
    exchange.answer = asked->key.redact(piece == 0 ? asked->reply.text : joined(exchange.answer, asked->reply.text));
    exchange.finish = failed ? "error" : asked->reply.finish;
    exchange.error = asked->judgement.why;
    const auto room = settings_.context_tokens - (bytes_of(turn) + static_cast<std::int64_t>(exchange.answer.size())) / 4;
    const bool too_long = exchange.answer.size() > static_cast<std::size_t>(settings_.limits.answer_bytes);
    if (failed || exchange.finish != "length" || piece == settings_.limits.continuations || too_long || room < 256) return {};
    bool own_words = settings_.provider->continues_own_words;
    {
      const std::scoped_lock lock(mutex_);
      own_words = own_words && !turned_down_.contains("prefill");
    }
    // A last message of the assistant may not end with white space.
    if (own_words) exchange.answer.erase(exchange.answer.find_last_not_of(" \t\r\n") + 1);
    say(fmt::format("{}: the answer was cut off after {} characters; asking for the rest", request.purpose,
                    exchange.answer.size()));
    turn = request_for_the_rest(request, exchange.answer, own_words);
  }
}

Result<Exchange> RemoteModel::chat(const ChatRequest& request) {
  ChatRequest clean = request;
  for (ChatMessage& message : clean.messages) message.content = as_utf8(message.content);
  const auto begin = WaitClock::now();
  Exchange exchange;
  exchange.purpose = clean.purpose;
  exchange.provider = provider_name_;
  exchange.model = settings_.model;
  exchange.messages = clean.messages;
  exchange.prompt_hash = prompt_hash(clean.purpose, clean.messages);
  exchange.created_at = now_text();
  {
    const Slot slot(*this);
    KW_CHECK(answer(clean, exchange));
  }
  exchange.seconds = std::chrono::duration<double>(WaitClock::now() - begin).count();
  const std::scoped_lock lock(mutex_);
  ++exchanges_;
  return exchange;
}

}  // namespace kw::llm
