// Turns how a runner ended into a diagnosis: which buffer an address belongs to, what a signal means, what was forbidden.
#pragma once

#include "dsl/session.h"
#include "runner/protocol.h"

namespace kw {

// Where the runner put each argument: [argument][copy], the first byte of the region.
using RegionAddresses = std::vector<std::vector<std::uint64_t>>;

// From the runner's own message about a crash, and what the process printed on standard error.
RunFailure failure_from_crash(const Json& message, const runner::Spec& spec, const RegionAddresses& regions,
                              const std::string& stage, const std::string& errors);
// From a crash of host code that followed a device pointer; nothing where the address is none. `device` has the tensors' addresses.
std::optional<RunFailure> failure_from_device_pointer(const Json& message, const runner::Spec& spec,
                                                      const std::vector<std::uint64_t>& device, const std::string& stage);
// From a forbidden system call.
RunFailure failure_from_violation(int syscall, const std::string& stage);
// From the end of the process without any message.
RunFailure failure_from_end(const sandbox::Outcome& outcome, const std::string& stage, double deadline_seconds);

// "input 'x', 16 bytes past its end", or empty when the address is near no buffer.
std::string place_of_address(std::uint64_t address, const runner::Spec& spec, const RegionAddresses& regions);

}  // namespace kw
