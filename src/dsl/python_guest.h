// What a session needs to know of a Python guest: what it is told beside the runner's spec, and what its failures mean.
#pragma once

#include <map>

#include "dsl/session.h"
#include "runner/protocol.h"

namespace kw {

// The part of the spec that only a Python guest reads.
Json python_section(const ProblemDescription& problem, const PythonBuild& build, const std::optional<SessionGpu>& gpu);

// From the guest's own message: something that the candidate raised, or an operator of PyTorch's that it may not use.
RunFailure failure_from_fault(const Json& message, const std::string& stage);
RunFailure failure_from_operator(const Json& message, const std::string& stage);

// From what the built module's process can execute, as the system tells it; nothing where that is what it should be.
std::optional<RunFailure> failure_from_maps(const std::optional<PythonBuild>& build, int process);

// Adds the line of the candidate, where Python could still print it, and what a crash means for it.
void explain_python_end(RunFailure& failure, const std::string& file, int signal = 0);

Result<WatchedCall> watched_call(const Json& message);

// Where a Python guest's outputs are, by slot. The guest holds those of an order until the next order but one, so that memory that
// it returns again stands out. An order that goes on with the one before holds them, too, but for a slot that it fills anew: what
// was there is held until that call is over.
class GuestOutputs {
 public:
  // Of the message that follows a "done". A failure when memory is returned that is still held.
  Answered<bool> take(const Json& message, const runner::Spec& spec, bool goes_on);
  [[nodiscard]] const std::vector<std::uint64_t>& of(int out_slot) { return now_[out_slot]; }

 private:
  using Places = std::map<int, std::vector<std::uint64_t>>;
  Places now_, before_;
};

}  // namespace kw
