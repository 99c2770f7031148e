#include "dsl/compiler_errors.h"

#include <regex>
#include <sstream>

#include <fmt/format.h>

namespace kw {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line.substr(0, 2000));
  return lines;
}

// "kernel.cpp:12:5: ..." -> 12, or 0.
int kernel_line(const std::string& line, std::string_view kernel) {
  const std::size_t at = line.find(kernel);
  if (at == std::string::npos) return 0;
  const std::size_t number = at + kernel.size() + 1;
  return line.size() > number && line[number - 1] == ':' ? std::atoi(line.c_str() + number) : 0;
}

// The compiler knows the file under the name that it was copied to.
std::string as_users_file(std::string text, const std::string& kernel_file, std::string_view kernel) {
  for (std::size_t at = text.find(kernel); at != std::string::npos; at = text.find(kernel, at + kernel_file.size()))
    text.replace(at, kernel.size(), kernel_file);
  return text;
}

std::string shorten(std::string text, std::size_t most) {
  if (text.size() > most) text = text.substr(0, most) + " ...";
  return text;
}

// What to do about mistakes that are made often.
std::string usual_remedy(const std::string& summary) {
  static const std::regex mixed(R"(no matching function for call to '(max|min|clamp)\()");
  static const std::regex unknown(R"('(\w+)' is not a member of 'std')");
  std::smatch found;
  if (std::regex_search(summary, found, mixed))
    return fmt::format(
        "the arguments of std::{0} must have one type: write literals of float with f, as in 0.5f, or say std::{0}<float>(...)",
        found[1].str());
  if (std::regex_search(summary, found, unknown))
    return fmt::format(
        "the standard library has no {}, or its header is not included: write out the formula, or include the header",
        found[1].str());
  return "";
}

}  // namespace

bool ran_out_of_time(const sandbox::Outcome& outcome) {
  constexpr std::string_view kSaid = "CPU time limit exceeded";  // a compiler's driver, of the program that did the work
  return outcome.timed_out || outcome.out.find(kSaid) != std::string::npos || outcome.err.find(kSaid) != std::string::npos;
}

CompileOutcome compiler_out_of_time(const CompileOptions& options, const std::string& hint) {
  const double limit = std::chrono::duration<double>(options.deadline).count();
  return CompileOutcome::failed(Verdict::timed_out,
                                {"compile",
                                 fmt::format("the compiler did not finish within {:.3g} s of processor time", limit),
                                 "",
                                 {},
                                 hint + ", or give more time with --compile-timeout",
                                 ""});
}

Diagnosis digest_compiler_errors(const std::string& output, const std::string& kernel_file, const std::string& declaration,
                                 std::string_view compiled_as) {
  Diagnosis d{"compile", "the kernel does not compile", "", {}, "", ""};
  const auto lines = lines_of(output);
  static const std::regex error_line(R"(^(.*?):(\d+):(?:\d+:)? (?:fatal )?[eE]rror: (.*)$)");
  static const std::regex undefined(R"(undefined reference to [`']([^']*)')");
  std::smatch found;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!std::regex_search(lines[i], found, error_line)) continue;
    d.summary = shorten(found[3].str(), 300);
    int line = kernel_line(lines[i], compiled_as);
    // An error inside a header: the kernel's line stands in the chain of instantiations or inclusions around it.
    for (std::size_t back = i; line == 0 && back-- > 0 && i - back < 40;) line = kernel_line(lines[back], compiled_as);
    for (std::size_t on = i + 1; line == 0 && on < lines.size() && on - i < 40; ++on) line = kernel_line(lines[on], compiled_as);
    if (line > 0) d.place = fmt::format("{}:{}", kernel_file, line);
    for (std::size_t on = i + 1; on < lines.size() && d.evidence.size() < 2; ++on)
      if (std::regex_search(lines[on], error_line))
        d.evidence.push_back(shorten(as_users_file(lines[on], kernel_file, compiled_as), 200));
    break;
  }
  if (d.place.empty() && std::regex_search(output, found, undefined)) {
    d.summary = fmt::format("'{}' is called but defined nowhere", found[1].str());
    d.hint = "only the standard library, libm and OpenMP are linked";
    if (found[1].str().rfind("kw_", 0) == 0) d.hint = fmt::format("define the entry point exactly so: {}", declaration);
  }
  if (d.summary.find("kw_kernel") != std::string::npos || d.summary.find("kw_prepare") != std::string::npos) {
    d.hint = fmt::format("define the entry point exactly so: {}", declaration);
    // A conflict is reported at the header's line or at the kernel's; the kernel's helps.
    for (const auto& line : lines)
      if (d.place.empty() && kernel_line(line, compiled_as) > 0)
        d.place = fmt::format("{}:{}", kernel_file, kernel_line(line, compiled_as));
  } else if (d.summary.find("No such file or directory") != std::string::npos) {
    d.hint = "a kernel is one file: it includes the standard library, intrinsics and problem.h";
  } else if (d.hint.empty()) {
    d.hint = usual_remedy(d.summary);
  }
  if (d.summary == "the kernel does not compile")
    for (const auto& line : lines)
      if (d.evidence.size() < 3 && (line.find("error") != std::string::npos || line.find("fatal") != std::string::npos))
        d.evidence.push_back(shorten(as_users_file(line, kernel_file, compiled_as), 200));
  return d;
}

Diagnosis digest_nvcc_errors(const std::string& output, const std::string& kernel_file, const std::string& declaration) {
  constexpr std::string_view kName = "kernel.cu";
  // "file(12): error: ..." and "at line 12 of file", as the host's compiler would say it.
  static const std::regex message(R"(^(.*?)\((\d+)\): (?:catastrophic )?(error|warning)(?: #[0-9a-zA-Z-]+)?: )");
  static const std::regex chain(R"x(at line (\d+) of "?([^\s"]+)"?)x");
  static const std::regex limit(R"(ptxas (?:error|fatal)\s*: ([^\n]*))");
  std::string text;
  for (const auto& line : lines_of(output))
    text += std::regex_replace(std::regex_replace(line, message, "$1:$2: $3: "), chain, "at $2:$1:") + "\n";
  Diagnosis d = digest_compiler_errors(text, kernel_file, declaration, kName);
  std::smatch found;
  if (d.summary == "the kernel does not compile" && std::regex_search(output, found, limit)) {
    d.summary = shorten(found[1].str(), 300);
    d.evidence.clear();
    d.hint = "ptxas refuses the kernel: look at its shared memory, its registers and __launch_bounds__";
  }
  if (d.hint.find("libm and OpenMP are linked") != std::string::npos)
    d.hint = "only the standard library and the CUDA runtime are linked";
  if (d.hint.find("a kernel is one file") != std::string::npos)
    d.hint =
        "a kernel is one file: it includes the CUDA toolkit's headers, the standard library and problem.h; those of CuTe with "
        "--dsl cute";
  if (d.summary.find("undefined in device code") != std::string::npos)
    d.hint = "device code sees scalar constants such as x_numel and x_dim0, not arrays such as x_shape";
  return d;
}

}  // namespace kw
