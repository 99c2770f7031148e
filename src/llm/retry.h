// What to make of an attempt that failed: try again and when, give this prompt up, or end everything.
#pragma once

#include <optional>
#include <string>

#include "llm/http.h"
#include "llm/provider.h"

namespace kw::llm {

enum class Fault {
  none,
  again,   // likely gone the next time
  adapt,   // the endpoint turned down a part that can be left out
  prompt,  // this prompt will fail each time; another may not
  fatal,   // so will every prompt
};

struct Judgement {
  Fault fault = Fault::none;
  bool fatal_at_last = false;  // `again` that ends everything where it never goes away
  std::string why{};
  std::string hint{};
  std::string turned_down{};             // for `adapt`
  std::optional<double> wait_seconds{};  // what the server asked for
};

// Of a response whose status is not 200, or that did not arrive.
Judgement judge_response(const HttpResponse& response, const Provider& provider, const TurnedDown& turned_down,
                         const std::string& model, const std::string& base_url);

// Retry-After: seconds, or an HTTP date.
std::optional<double> seconds_to_wait(const std::string& retry_after);

// The wait before attempt number `attempt` (the second is 1): doubled each time, at most `most`; `chance` in [0, 1) is the jitter,
// which keeps many clients from coming back at the same moment.
double backoff(double first, int attempt, double most, double chance);

}  // namespace kw::llm
