// The trusted Python side as a long-lived child: starts it, asks, and starts it once more if it dies.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"

namespace kw {

struct OracleOptions {
  int threads = 0;                                 // 0: as many as cores
  std::vector<int> cores;                          // to be pinned to; empty: not pinned
  std::function<void(std::string_view)> progress;  // what it says while it works; may be empty
};

// What an engineer needs to run the oracle by hand: the interpreter, or an error that says how to get one.
Result<std::string> oracle_python();

class OracleClient {
 public:
  // Starts nothing yet: where everything is cached, no oracle is needed.
  explicit OracleClient(OracleOptions options);
  OracleClient(OracleClient&&) noexcept;
  OracleClient& operator=(OracleClient&&) noexcept;
  ~OracleClient();

  // Starts the process without waiting for it: importing PyTorch takes seconds that a compiler can use.
  Status warm_up();

  // Asks and waits. An oracle that died is started again and asked once more; one that does not answer in time is ended.
  Result<Json> ask(const std::string& op, const Json& arguments, std::chrono::seconds deadline = std::chrono::seconds(600));

  // How often the process was started: handles of an earlier one are gone.
  [[nodiscard]] int generation() const;
  [[nodiscard]] int pid() const;
  // The version of PyTorch and the protocol, from the oracle's greeting.
  Result<Json> hello();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kw
