// What a session needs to know of a Python guest: what it is told beside the runner's spec, and what its failures mean.
#pragma once

#include "dsl/session.h"

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

}  // namespace kw
