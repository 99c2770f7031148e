#include "export/subject.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "dsl/cpp_text.h"

namespace kw {
namespace {

// Words of Python and C++, and names that another package or target has.
constexpr std::array kTaken{
    "and",     "as",      "assert",  "async",  "auto",      "await",      "bool",     "break", "case",     "char",   "class",
    "const",   "def",     "default", "del",    "delete",    "do",         "double",   "elif",  "else",     "enum",   "except",
    "extern",  "finally", "float",   "for",    "from",      "global",     "goto",     "if",    "import",   "in",     "inline",
    "int",     "is",      "lambda",  "long",   "namespace", "new",        "nonlocal", "not",   "operator", "or",     "pass",
    "private", "public",  "raise",   "return", "short",     "signed",     "static",   "std",   "struct",   "switch", "template",
    "test",    "tests",   "this",    "throw",  "torch",     "try",        "typedef",  "union", "unsigned", "using",  "virtual",
    "void",    "while",   "with",    "yield",  "numpy",     "setuptools", "kernels"};

}  // namespace

bool ExportSubject::prepares() const { return mentions_identifier(kernel_text, "kw_prepare"); }

bool ExportSubject::is_confirmed() const { return run.confirmed && run.winner == individual.index; }

std::vector<Comparison> ExportSubject::comparisons() const {
  if (is_confirmed()) return run.confirmed->comparisons;
  if (evaluation && evaluation->timing) return evaluation->timing->comparisons;
  if (individual.speedup <= 0) return {};
  Comparison seen;
  seen.baseline = "eager";
  seen.candidate_seconds = individual.seconds;
  seen.baseline_seconds = individual.seconds * individual.speedup;
  seen.speedup = individual.speedup;
  seen.interval = individual.interval;
  seen.pairs = static_cast<int>(individual.ratios.size());
  return {seen};
}

std::string export_name(const std::string& problem_name) {
  std::string name;
  for (const char c : problem_name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool fits = byte < 0x80 && std::isalnum(byte) != 0;
    if (fits && (!name.empty() || std::isalpha(byte) != 0))
      name += static_cast<char>(std::tolower(byte));
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  const bool is_usable = name.size() >= 2 && std::ranges::find(kTaken, name) == kTaken.end();
  if (!is_usable) name += name.empty() ? "kernel" : "_kernel";
  return name.size() <= 64 ? name : name.substr(0, name.find_last_not_of('_', 63) + 1);
}

Status check_export_name(const std::string& name) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  const bool is_word = name.size() >= 2 && name.size() <= 64 && name[0] >= 'a' && name[0] <= 'z' && name.back() != '_' &&
                       std::ranges::all_of(name, fits);
  if (!is_word)
    return bad_input(fmt::format("--name {} cannot name a package", name),
                     "use two or more lower-case letters, digits and underscores, beginning with a letter: rms_norm");
  if (std::ranges::find(kTaken, name) != kTaken.end())
    return bad_input(fmt::format("--name {} means something else in Python or C++", name), fmt::format("--name fast_{}", name));
  return {};
}

}  // namespace kw
