#include "llm/http.h"

#include <curl/curl.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <csignal>
#include <memory>
#include <mutex>

#include <fmt/format.h>

#include "base/work_limit.h"

namespace kw::llm {
namespace {

using HttpClock = std::chrono::steady_clock;

constexpr std::size_t kLongestBody = 256 * 1024;

struct Transfer {
  const HttpRequest* request = nullptr;
  HttpResponse response;
  CURL* easy = nullptr;
  HttpClock::time_point last_byte = HttpClock::now();
  bool stopped = false;
};

std::size_t on_header(char* data, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  transfer.last_byte = HttpClock::now();
  const std::string_view line(data, size * count);
  if (line.starts_with("HTTP/")) {  // also after "100 Continue": what came before does not count
    transfer.response.content_type.clear();
    transfer.response.retry_after.clear();
    transfer.response.location.clear();
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return size * count;
  std::string name(line.substr(0, colon));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && std::isspace(static_cast<unsigned char>(value.front()))) value.remove_prefix(1);
  while (!value.empty() && std::isspace(static_cast<unsigned char>(value.back()))) value.remove_suffix(1);
  if (name == "content-type") transfer.response.content_type = value;
  if (name == "retry-after") transfer.response.retry_after = value;
  if (name == "location") transfer.response.location = value;
  return size * count;
}

std::size_t on_body(char* data, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  transfer.last_byte = HttpClock::now();
  const std::string_view piece(data, size * count);
  long status = 0;
  curl_easy_getinfo(transfer.easy, CURLINFO_RESPONSE_CODE, &status);
  const bool streams = transfer.response.content_type.find("text/event-stream") != std::string::npos;
  if (status == 200 && streams && transfer.request->on_stream) {
    transfer.stopped = !transfer.request->on_stream(piece);
    return transfer.stopped ? 0 : piece.size();
  }
  std::string& body = transfer.response.body;
  body.append(piece.substr(0, kLongestBody - std::min(kLongestBody, body.size())));
  return piece.size();
}

HttpEnding ending_of(CURLcode code) {
  switch (code) {
    case CURLE_OK:
      return HttpEnding::complete;
    case CURLE_URL_MALFORMAT:
      return HttpEnding::bad_url;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_OPERATION_TIMEDOUT:  // only that of connecting is left to curl
      return HttpEnding::unreachable;
    default:
      return HttpEnding::broken;
  }
}

struct EasyCleanup {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct MultiCleanup {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
struct ListCleanup {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

double seconds_since(HttpClock::time_point then) { return std::chrono::duration<double>(HttpClock::now() - then).count(); }

// Driven by hand, so that cancelling and silence are noticed within a tenth of a second.
CURLcode drive(CURLM* multi, CURL* easy, Transfer& transfer) {
  const HttpRequest& request = *transfer.request;
  const auto begin = HttpClock::now();
  const auto give_up = [&](HttpEnding ending, std::string reason) {
    transfer.response.ending = ending;
    transfer.response.reason = std::move(reason);
    return CURLE_ABORTED_BY_CALLBACK;
  };
  for (;;) {
    int running = 0;
    curl_multi_perform(multi, &running);
    if (running == 0) break;
    if ((request.cancelled && *request.cancelled) || work_must_end()) return give_up(HttpEnding::cancelled, "cancelled");
    if (seconds_since(begin) > request.total_seconds)
      return give_up(HttpEnding::late, fmt::format("no end after {:g} s", request.total_seconds));
    if (seconds_since(transfer.last_byte) > request.idle_seconds)
      return give_up(HttpEnding::idle, fmt::format("not a byte for {:g} s", request.idle_seconds));
    curl_multi_poll(multi, nullptr, 0, 50, nullptr);
  }
  int left = 0;
  for (CURLMsg* message = curl_multi_info_read(multi, &left); message; message = curl_multi_info_read(multi, &left))
    if (message->msg == CURLMSG_DONE && message->easy_handle == easy) return message->data.result;
  return CURLE_RECV_ERROR;
}

}  // namespace

HttpResponse http(const HttpRequest& request) {
  static std::once_flag once;
  std::call_once(once, [] {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    ::signal(SIGPIPE, SIG_IGN);  // a connection that goes away is an error to handle, not a signal to die of
  });
  const std::unique_ptr<CURL, EasyCleanup> easy(curl_easy_init());
  const std::unique_ptr<CURLM, MultiCleanup> multi(curl_multi_init());
  Transfer transfer;
  transfer.request = &request;
  if (!easy || !multi) {
    transfer.response.ending = HttpEnding::broken;
    transfer.response.reason = "libcurl could not be started";
    return transfer.response;
  }
  transfer.easy = easy.get();
  char detail[CURL_ERROR_SIZE] = "";
  curl_slist* list = nullptr;
  for (const std::string& header : request.headers) list = curl_slist_append(list, header.c_str());
  list = curl_slist_append(list, "Expect:");  // or curl waits for a "100 Continue" that few servers send
  const std::unique_ptr<curl_slist, ListCleanup> headers(list);
  CURL* handle = easy.get();
  curl_easy_setopt(handle, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(handle, CURLOPT_USERAGENT, "kernelwright");
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);  // it would carry the key to another host
  curl_easy_setopt(handle, CURLOPT_NOPROXY, "localhost,127.0.0.1,::1");
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_seconds * 1000));
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, detail);
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &transfer);
  if (request.body) {
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body->size()));
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, request.body->c_str());
  }
  curl_multi_add_handle(multi.get(), handle);
  const CURLcode code = drive(multi.get(), handle, transfer);
  curl_multi_remove_handle(multi.get(), handle);
  HttpResponse& response = transfer.response;
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  response.status = static_cast<int>(status);
  if (response.ending != HttpEnding::complete) return response;
  response.ending = transfer.stopped ? HttpEnding::stopped : ending_of(code);
  if (code != CURLE_OK) response.reason = *detail ? detail : curl_easy_strerror(code);
  return response;
}

}  // namespace kw::llm
