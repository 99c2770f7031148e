// One HTTP request over libcurl, its answer handed on as it arrives. Follows no redirects, sends nothing through a proxy to this
// machine, and never decides whether to try again.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kw::llm {

struct HttpRequest {
  std::string url;
  std::vector<std::string> headers;  // "Name: value"
  std::optional<std::string> body;   // POST where there is one, else GET
  double connect_seconds = 15;
  double idle_seconds = 180;
  double total_seconds = 1200;
  const std::atomic<bool>* cancelled = nullptr;
  // Pieces of an event stream with status 200; false ends the transfer. Anything else is collected in HttpResponse::body.
  std::function<bool(std::string_view)> on_stream;
};

enum class HttpEnding {
  complete,
  unreachable,  // no such host, refused, no TLS: nothing was answered
  bad_url,
  idle,     // no byte for too long
  late,     // the whole took too long
  broken,   // closed or reset before its end
  stopped,  // on_stream said so
  cancelled,
};

struct HttpResponse {
  HttpEnding ending = HttpEnding::complete;
  std::string reason;  // of an ending other than complete
  int status = 0;      // 0: no answer
  std::string content_type;
  std::string retry_after;
  std::string location;
  std::string body;  // its first 256 KiB; empty where on_stream had it
};

HttpResponse http(const HttpRequest& request);

}  // namespace kw::llm
