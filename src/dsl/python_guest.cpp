#include "dsl/python_guest.h"

#include <csignal>
#include <regex>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "dsl/python_box.h"

namespace kw {
namespace {

RunFailure memory_used_again() {
  RunFailure failure;
  failure.verdict = Verdict::forbidden;
  failure.diagnosis = {"run",
                       "forward() returns memory that it has returned before",
                       "",
                       {},
                       "allocate the output in each call: whoever holds an earlier output would see it change",
                       ""};
  return failure;
}

}  // namespace

namespace {

Json blank_section(const PythonBuild& build) {
  if (!build.blank) return nullptr;
  return {{"library", build.blank->library.string()},
          {"code", build.blank->code.string()},
          {"address", build.blank->address},
          {"bytes", build.blank->bytes},
          {"packages", packages_of_candidates()}};
}

}  // namespace

Json python_section(const ProblemDescription& problem, const PythonBuild& build, const std::optional<SessionGpu>& gpu) {
  Json arguments = Json::array();
  for (const auto* argument : problem.arguments()) arguments.push_back(*argument);
  return {{"call", problem.call},
          {"arguments", arguments},
          {"file", build.file},
          {"triton", build.triton},
          {"allow_torch", build.allow_torch},
          {"movement_is_work", build.movement_is_work},
          {"blank", blank_section(build)},
          {"extensions", build.folder + "/extensions"},
          {"triton_cache", build.folder + "/triton"},
          {"gpu", gpu ? gpu->build.gpu : ""},
          {"checks", gpu && gpu->checks},
          {"counters", gpu && gpu->counters}};
}

RunFailure failure_from_fault(const Json& message, const std::string& stage) {
  RunFailure failure;
  const std::string verdict = message.at("verdict").get<std::string>();
  for (const Verdict each : {Verdict::forbidden, Verdict::compile_failed, Verdict::out_of_memory, Verdict::wrong})
    if (name_of(each) == verdict) failure.verdict = each;
  failure.diagnosis = {stage,
                       message.at("summary").get<std::string>(),
                       message.at("place").get<std::string>(),
                       message.at("evidence").get<std::vector<std::string>>(),
                       message.at("hint").get<std::string>(),
                       ""};
  return failure;
}

RunFailure failure_from_operator(const Json& message, const std::string& stage) {
  RunFailure failure;
  failure.verdict = Verdict::forbidden;
  failure.diagnosis = {stage,
                       fmt::format("PyTorch's own operator {} does work in forward()", message.at("name").get<std::string>()),
                       message.at("place").get<std::string>(),
                       {},
                       "compute it in a kernel of your own, or say --allow-torch: the verdict then tells what PyTorch did",
                       ""};
  return failure;
}

std::optional<RunFailure> failure_from_maps(const std::optional<PythonBuild>& build, int process) {
  if (!build || !build->blank) return std::nullopt;
  const std::string objection = executable_objection(process, *build->blank);
  if (objection.empty()) return std::nullopt;
  RunFailure failure;
  failure.verdict = Verdict::mistrusted;
  failure.diagnosis = {"prepare", "the process is not as it was made: " + objection,       "",
                       {},        "leave the memory of the process to PyTorch and Python", ""};
  return failure;
}

void explain_python_end(RunFailure& failure, const std::string& file, int signal) {
  static const std::regex line(R"re(File "[^"]*candidate\.py", line (\d+))re");
  std::smatch found;
  auto& diagnosis = failure.diagnosis;
  if (signal == SIGTRAP) {
    failure.verdict = Verdict::forbidden;
    diagnosis.summary = "native code of the candidate runs a kernel of PyTorch's below its dispatcher";
    diagnosis.hint = "compute it in a kernel of your own, or say --allow-torch: the verdict then tells what PyTorch did";
    diagnosis.evidence.clear();
  }
  if (std::regex_search(failure.errors, found, line)) diagnosis.place = fmt::format("{}:{}", file, found[1].str());
  if (failure.errors.find("Fatal Python error: Segmentation fault") == std::string::npos) return;
  diagnosis.evidence.clear();
  diagnosis.hint =
      "inputs are read-only memory with guards around it: writing into one, or past an end, ends so. Otherwise look for a wild "
      "pointer in native code";
}

Result<WatchedCall> watched_call(const Json& message) {
  return read_fields("the guest's message", [&] {
    WatchedCall watched;
    watched.in_force = message.at("in_force").get<bool>();
    watched.seconds = message.at("nanoseconds").get<double>() * 1e-9;
    for (const auto& each : message.at("operators"))
      watched.operators.push_back({each.at("name"), each.at("calls"), each.at("nanoseconds").get<double>() * 1e-9, each.at("line"),
                                   each.at("movement").get<bool>()});
    return watched;
  });
}

Answered<bool> GuestOutputs::take(const Json& message, const runner::Spec& spec, bool goes_on) {
  if (!goes_on) before_ = std::exchange(now_, {});
  Places returned;
  for (const auto& each : message.at("outputs")) returned[each.at(0).get<int>()] = each.at(1).get<std::vector<std::uint64_t>>();
  const Places held = std::exchange(now_, returned);
  now_.insert(held.begin(), held.end());
  std::set<std::uint64_t> seen;
  for (const Places* all : {&std::as_const(before_), &held, &std::as_const(returned)})
    for (const auto& [slot, addresses] : *all)
      for (std::size_t i = 0; i < addresses.size(); ++i) {
        const bool is_empty = spec.arguments.at(spec.arguments.size() - addresses.size() + i).bytes == 0;
        if (!is_empty && !seen.insert(addresses[i]).second) return {{}, memory_used_again()};
      }
  return {true, {}};
}

}  // namespace kw
