#include "verify/crash_lines.h"

#include <regex>

#include <fmt/format.h>

#include "dsl/cpp.h"
#include "verify/check.h"

namespace kw {
namespace {

using std::chrono::milliseconds;

// "kernel.cpp:12" as the user knows the file.
std::string as_users_place(const std::string& line, const std::string& file) {
  const std::size_t colon = line.rfind(':');
  return colon == std::string::npos || line.rfind("kernel.cpp", 0) != 0 ? "" : file + line.substr(colon);
}

void add_place(Diagnosis& diagnosis, const std::string& place) {
  if (place.empty()) return;
  diagnosis.place = diagnosis.place.empty() ? place : place + ", " + diagnosis.place;
}

// The same call in a debug build; what the sanitizer printed.
std::string run_under_sanitizer(const Candidate& candidate, const ProblemDescription& problem, const TensorSet& set,
                                SessionOptions options) {
  CompileOptions compile;
  compile.mode = options.mode;
  compile.debug = true;
  compile.deadline = milliseconds(60000);
  auto compiled = candidate.compile_variant(problem, compile, "debug");
  if (!compiled || !compiled->kernel) return "";
  options.debug = true;
  options.slots = options.out_slots = 1;
  options.shared_weights = true;
  auto session = Session::create(problem, *compiled->kernel, options);
  if (!session || !load_inputs(*session, problem, set, 0) || !load_weights(*session, problem, set)) return "";
  const milliseconds deadline(30000);
  auto launched = session->launch(deadline);
  if (!launched) return "";
  if (!launched->ok()) return launched->failure.errors;
  auto prepared = session->prepare(deadline);
  if (!prepared) return "";
  if (!prepared->ok()) return prepared->failure.errors;
  const int zero[] = {0};
  auto called = session->call(zero, zero, true, deadline);
  if (!called) return "";
  if (!called->ok()) return called->failure.errors;
  return session->finish().text;
}

}  // namespace

std::optional<SanitizerFinding> read_sanitizer(const std::string& output) {
  static const std::regex address(R"(ERROR: AddressSanitizer: ([^\n]*?)(?: on | at |: |\(|\n))");
  static const std::regex undefined(R"(kernel\.cpp:(\d+):\d+: runtime error: ([^\n]*))");
  static const std::regex frame(R"(kernel\.cpp:(\d+))");
  std::smatch found;
  SanitizerFinding finding;
  if (std::regex_search(output, found, undefined)) {
    finding.what = found[2].str();
    finding.line = std::atoi(found[1].str().c_str());
    return finding;
  }
  if (!std::regex_search(output, found, address)) return std::nullopt;
  finding.what = found[1].str();
  const std::string rest = found.suffix().str();
  if (std::regex_search(rest, found, frame)) finding.line = std::atoi(found[1].str().c_str());
  return finding;
}

void explain_crash(RunFailure& failure, const Candidate& candidate, const ProblemDescription& problem, const TensorSet& set,
                   const SessionOptions& options) {
  if (failure.verdict != Verdict::crashed) return;
  if (failure.program_counter) {
    CompileOptions compile;
    compile.mode = options.mode;
    compile.lines = true;
    auto compiled = candidate.compile_variant(problem, compile, "lines");
    if (compiled && compiled->kernel) {
      const std::string place =
          as_users_place(line_of(compiled->kernel->object, *failure.program_counter), candidate.source().file);
      add_place(failure.diagnosis, place);
      if (!place.empty()) return;
    }
  }
  const auto finding = read_sanitizer(run_under_sanitizer(candidate, problem, set, options));
  if (!finding) return;
  failure.diagnosis.evidence.push_back(fmt::format("AddressSanitizer: {}", finding->what));
  if (finding->line > 0) add_place(failure.diagnosis, fmt::format("{}:{}", candidate.source().file, finding->line));
}

}  // namespace kw
