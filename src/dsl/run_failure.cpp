#include "dsl/run_failure.h"

#include <algorithm>
#include <csignal>
#include <cstring>

#include <fmt/format.h>

#include "base/subprocess.h"
#include "sandbox/seccomp_filter.h"

namespace kw {
namespace {

std::string_view role_name(runner::Role role) {
  switch (role) {
    case runner::Role::input:
      return "input";
    case runner::Role::weight:
      return "parameter";
    case runner::Role::output:
      return "output";
    case runner::Role::scalar:
      return "scalar";
  }
  return "";
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

RunFailure out_of_memory(const std::string& stage) {
  RunFailure failure;
  failure.verdict = Verdict::out_of_memory;
  failure.diagnosis = {stage,
                       "the kernel used up the memory that it may have",
                       "",
                       {},
                       "allocate less, allocate once in kw_prepare, and free what you allocate",
                       ""};
  return failure;
}

void explain_abort(RunFailure& failure) {
  auto& d = failure.diagnosis;
  const std::string line = first_line(failure.errors);
  if (!line.empty()) d.evidence.push_back(line);
  if (d.hint.empty()) d.hint = "look for a failed assert, a call of abort() or an allocation that was overrun";
  if (contains(failure.errors, "std::bad_alloc") || contains(failure.errors, "Out of memory")) {
    failure.verdict = Verdict::out_of_memory;
    d.summary = "an allocation failed";
    d.hint = "allocate less: the kernel may hold its buffers and a few GiB more";
  } else if (contains(failure.errors, "terminate called")) {
    d.summary = "an exception left a parallel region or a noexcept function";
    d.hint = "catch exceptions inside the kernel";
  } else if (contains(failure.errors, "free()") || contains(failure.errors, "malloc") || contains(failure.errors, "corrupted") ||
             contains(failure.errors, "double free")) {
    d.summary = "the heap was corrupted: something wrote outside an allocation or freed it twice";
    d.hint = "check the sizes of your own allocations";
  } else if (contains(failure.errors, "stack smashing")) {
    d.summary = "an array on the stack was overrun";
    d.hint = "check the bounds of local arrays";
  }
}

}  // namespace

std::string place_of_address(std::uint64_t address, const runner::Spec& spec, const RegionAddresses& regions) {
  for (std::size_t i = 0; i < spec.arguments.size() && i < regions.size(); ++i) {
    const auto& argument = spec.arguments[i];
    for (const std::uint64_t region : regions[i]) {
      if (address < region - runner::kGuardBytes || address >= region + argument.region + runner::kGuardBytes) continue;
      const std::uint64_t begin = region + argument.lead;
      const std::uint64_t end = begin + argument.bytes;
      const std::string what = fmt::format("{} '{}'", role_name(argument.role), argument.name);
      if (address < begin) return fmt::format("{}, {} bytes before its beginning", what, begin - address);
      if (address >= end) return fmt::format("{}, {} bytes past its end", what, address - end);
      return fmt::format("{}, {} bytes into it", what, address - begin);
    }
  }
  return "";
}

RunFailure failure_from_crash(const Json& message, const runner::Spec& spec, const RegionAddresses& regions,
                              const std::string& stage, const std::string& errors) {
  const int signal = message.value("signal", 0);
  const std::uint64_t address = message.value("address", std::uint64_t{0});
  if (message.value("memory", false)) return out_of_memory(stage);
  RunFailure failure;
  failure.errors = errors;
  auto& d = failure.diagnosis;
  d.stage = stage;
  d.summary = fmt::format("the kernel crashed ({})", signal_name(signal));
  if (const std::uint64_t pc = message.value("pc", std::uint64_t{0}); pc != 0) failure.program_counter = pc;
  if (signal == SIGSEGV && message.value("code", 0) == SI_KERNEL) {
    // The processor tells no address for these.
    d.hint = "a vector load or store that needs alignment at an address that has none, or a pointer that is no address at all";
  } else if (signal == SIGSEGV && message.value("stack", false)) {
    d.summary = "the kernel's stack ran over (SIGSEGV)";
    d.hint = "look for recursion without an end and for large local arrays: allocate them instead";
  } else if (signal == SIGSEGV || signal == SIGBUS) {
    d.evidence.push_back(fmt::format("address {:#x}", address));
    d.place = place_of_address(address, spec, regions);
    if (contains(d.place, "bytes into it") && !contains(d.place, "output")) {
      d.summary = fmt::format("the kernel wrote to {}", d.place.substr(0, d.place.find(',')));
      d.hint = "inputs and parameters are read-only: write to the outputs or to memory of your own";
    } else if (!d.place.empty()) {
      d.summary = fmt::format("the kernel went out of bounds ({})", signal_name(signal));
      d.hint = "check the loop bounds and the handling of tails";
    } else if (address < 4096) {
      d.summary = fmt::format("the kernel used a null pointer ({})", signal_name(signal));
      d.hint = "check allocations and the state that kw_prepare returns";
    } else {
      d.hint = "a wild pointer, an index far out of range, a misaligned vector access or a stack that ran over";
    }
  } else if (signal == SIGFPE) {
    d.hint = "an integer division by zero (or INT_MIN / -1)";
  } else if (signal == SIGILL) {
    d.hint = "an instruction that this CPU does not have, or a point that the compiler took for unreachable";
  } else if (signal == SIGABRT) {
    explain_abort(failure);
  }
  return failure;
}

std::optional<RunFailure> failure_from_device_pointer(const Json& message, const runner::Spec& spec,
                                                      const std::vector<std::uint64_t>& device, const std::string& stage) {
  const std::uint64_t address = message.value("address", std::uint64_t{0});
  for (std::size_t i = 0; i < device.size() && i < spec.arguments.size(); ++i) {
    const auto& argument = spec.arguments[i];
    if (device[i] == 0 || address < device[i] || address - device[i] >= std::max<std::uint64_t>(argument.bytes, 1)) continue;
    RunFailure failure;
    failure.diagnosis = {
        stage,
        fmt::format("code on the host follows the device pointer of {} '{}'", role_name(argument.role), argument.name),
        "",
        {fmt::format("{} bytes into it", address - device[i])},
        "device memory is for kernels and for copies on the device: compute in a __global__ function",
        ""};
    return failure;
  }
  return std::nullopt;
}

RunFailure failure_from_violation(int syscall, const std::string& stage) {
  RunFailure failure;
  failure.verdict = Verdict::forbidden;
  const std::string name = sandbox::syscall_name(syscall);
  failure.diagnosis = {stage, fmt::format("the kernel asked the system for {}()", name), "", {}, "", ""};
  if (name == "clone" || name == "clone3" || name == "fork" || name == "vfork")
    failure.diagnosis.hint =
        "threads come from OpenMP, no more than omp_get_max_threads() of them and not nested; processes are not allowed";
  else
    failure.diagnosis.hint = "a kernel computes: it may allocate memory and use OpenMP, nothing else";
  return failure;
}

RunFailure failure_from_end(const sandbox::Outcome& outcome, const std::string& stage, double deadline_seconds) {
  if (outcome.memory_exceeded) return out_of_memory(stage);
  RunFailure failure;
  failure.errors = outcome.err;
  auto& d = failure.diagnosis;
  d.stage = stage;
  if (outcome.timed_out || outcome.killed) {
    failure.verdict = Verdict::timed_out;
    d.summary = fmt::format("the kernel did not finish within {:.3g} s", deadline_seconds);
    d.hint = "look for a loop that does not end, or give more time with --timeout";
  } else if (outcome.signal == SIGSYS) {
    failure.verdict = Verdict::forbidden;
    d.summary = "the kernel asked the system for something that is forbidden";
    d.hint = "a kernel computes: it may allocate memory and use OpenMP, nothing else";
  } else if (outcome.signal != 0) {
    d.summary = fmt::format("the kernel's process was ended by {}", signal_name(outcome.signal));
    if (outcome.signal == SIGSEGV) d.hint = "most likely a stack that ran over: deep recursion or a large local array";
    explain_abort(failure);
  } else {
    d.summary = fmt::format("the process exited with status {} before the call returned", outcome.exit_code);
    d.hint = "a kernel returns; it never exits";
    if (const std::string line = first_line(outcome.err); !line.empty()) d.evidence.push_back(line);
  }
  return failure;
}

}  // namespace kw
