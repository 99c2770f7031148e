#include "serve/viewer.h"

#include <sys/socket.h>

#include <charconv>
#include <thread>

#include <fmt/format.h>

#include "report/page.h"
#include "serve/answers.h"
#include "serve/server.h"
#include "serve/watcher.h"

namespace kw {
namespace {

constexpr std::size_t kThreads = 256;  // requests that are answered at a time
constexpr int kBacklog = 256;
constexpr int kEventStreams = 96;
constexpr std::chrono::seconds kHeartbeat{1};  // how soon it is seen that a listener has gone

constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

std::optional<std::int64_t> number_in(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

class Viewer {
 public:
  explicit Viewer(const ViewerOptions& options) : rule_(options.host), answers_(options.archive), watcher_(options.archive) {}

  Status run(const std::function<void(int port)>& on_ready, const std::atomic<bool>& stop) {
    set_bounds();
    set_answers();
    // Not SO_REUSEPORT, the library's choice: two viewers on one port would each get half of the requests.
    int listening = -1;
    server_.set_socket_options([&listening](int socket) {
      listening = socket;
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    if (rule_.port == 0)
      rule_.port = server_.bind_to_any_port(rule_.address);
    else if (!server_.bind_to_port(rule_.address, rule_.port))
      rule_.port = -1;
    if (rule_.port <= 0)
      return bad_input(
          fmt::format("{} cannot be listened at: it is no address of this machine, or the port is taken", rule_.address),
          "name another port with --port, or leave it out for any that is free");
    // The library lets five wait to be accepted: of more that come at once some would be kept waiting for seconds.
    ::listen(listening, kBacklog);
    std::atomic<bool> served{false};
    std::thread stopper([&] {
      while (!stop && !served) std::this_thread::sleep_for(std::chrono::milliseconds(50));
      watcher_.end();
      server_.stop();
    });
    on_ready(rule_.port);
    server_.listen_after_bind();
    served = true;
    stopper.join();
    return {};
  }

 private:
  void set_bounds() {
    server_.set_payload_max_length(0);
    server_.set_default_headers({{"Content-Security-Policy", kPolicy},
                                 {"X-Content-Type-Options", "nosniff"},
                                 {"Referrer-Policy", "no-referrer"},
                                 {"Cross-Origin-Resource-Policy", "same-origin"},
                                 {"Cross-Origin-Opener-Policy", "same-origin"},
                                 {"Accept-Ranges", "none"},
                                 {"Cache-Control", "no-store"}});
    server_.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      const auto handled = httplib::Server::HandlerResponse::Handled;
      if (!is_own_host(rule_, request.get_header_value("Host")))
        return refuse(response, 421, "this is not the host that was asked for"), handled;
      if (request.method != "GET" && request.method != "HEAD") {
        response.set_header("Allow", "GET, HEAD");
        return refuse(response, 405, "the viewer is read-only"), handled;
      }
      return httplib::Server::HandlerResponse::Unhandled;
    });
    server_.set_exception_handler([](const httplib::Request&, httplib::Response& response, const std::exception_ptr&) {
      refuse(response, 500, "the viewer failed");
    });
    server_.set_error_handler([](const httplib::Request&, httplib::Response& response) {
      if (response.body.empty()) refuse(response, response.status, "there is nothing here");
    });
  }

  void set_answers() {
    const auto fixed = [this](const std::string& path, std::string text, const char* type) {
      server_.Get(path, [kept = std::make_shared<const std::string>(std::move(text)), type](
                            const httplib::Request&, httplib::Response& response) { send(response, kept, type); });
    };
    for (const char* path : {"/", "/compare", R"(/runs/\d{1,17})"}) fixed(path, viewer_page(), "text/html; charset=utf-8");
    fixed("/page.css", page_style(), "text/css; charset=utf-8");
    fixed("/page.js", page_script(), "text/javascript; charset=utf-8");
    server_.Get("/api/runs", [this](const httplib::Request&, httplib::Response& response) { answer(response, answers_.runs()); });
    server_.Get(R"(/api/runs/(\d{1,17}))", [this](const httplib::Request& request, httplib::Response& response) {
      const auto first = number_in(request.has_param("from") ? request.get_param_value("from") : "0");
      if (!first) return refuse(response, 400, "from= must be a number");
      answer(response, answers_.run(request.matches[1], *first));
    });
    server_.Get(R"(/api/runs/(\d{1,17})/kernels/(\d{1,17}))", [this](const httplib::Request& request, httplib::Response& response) {
      answer(response, answers_.kernel(request.matches[1], *number_in(request.matches[2])));
    });
    server_.Get(R"(/api/runs/(\d{1,17})/exchanges/(\d{1,17}))",
                [this](const httplib::Request& request, httplib::Response& response) {
                  answer(response, answers_.exchange(request.matches[1], *number_in(request.matches[2])));
                });
    server_.Get("/api/events", [this](const httplib::Request&, httplib::Response& response) { stream_events(response); });
  }

  // As a stream of known length: a whole text the library would compress as well as it can, which takes seconds for a large run and
  // gains nothing on one machine.
  static void send(httplib::Response& response, Answers::Text text, const char* type) {
    const std::size_t size = text->size();
    response.set_content_provider(size, type,
                                  [text = std::move(text)](std::size_t from, std::size_t length, httplib::DataSink& sink) {
                                    if (from > text->size() || length > text->size() - from) return false;
                                    return sink.write(text->data() + from, length);
                                  });
  }

  static void answer(httplib::Response& response, const Result<Answers::Text>& text) {
    if (text)
      send(response, *text, "application/json");
    else
      refuse(response, text.error().kind == ErrorKind::bad_input ? 404 : 500, text.error().message);
  }

  static void refuse(httplib::Response& response, int status, const std::string& why) {
    response.status = status;
    response.set_content(Json{{"error", why}}.dump(-1, ' ', false, Json::error_handler_t::replace), "application/json");
  }

  // Each stream holds a thread: beyond a bound a page asks now and then instead.
  void stream_events(httplib::Response& response) {
    if (watcher_.listeners() >= kEventStreams) {
      response.set_header("Retry-After", "10");
      return refuse(response, 503, "too many event streams");
    }
    const auto listener = std::make_shared<Watcher::Listener>(watcher_);
    response.set_chunked_content_provider("text/event-stream", [this, listener](std::size_t, httplib::DataSink& sink) {
      const auto news = listener->next(kHeartbeat);
      if (watcher_.ended()) return false;
      const std::string text = news ? fmt::format("data: {}\n\n", *news) : ": still here\n\n";
      return sink.write(text.data(), text.size());
    });
  }

  HostRule rule_;
  Answers answers_;
  Watcher watcher_;
  Server server_{kThreads};
};

}  // namespace

Status serve_viewer(const ViewerOptions& options, const std::function<void(int port)>& on_ready, const std::atomic<bool>& stop) {
  return Viewer(options).run(on_ready, stop);
}

}  // namespace kw
