#include <sstream>

#include <fmt/format.h>

#include "dsl/cpp.h"
#include "dsl/problem_header.h"
#include "export/binding.h"
#include "export/forms.h"
#include "export/operator_files.h"

namespace kw {
namespace {

// A Python literal of a text; one that stays readable wherever the text allows it.
std::string literal(const std::string& text) {
  const bool is_raw = text.find("'''") == std::string::npos && !text.ends_with('\\') && !text.ends_with('\'');
  return is_raw ? "r'''" + text + "'''" : Json(text).dump();
}

// All is one file: what would be included stands above already.
std::string without_own_includes(const std::string& text) {
  std::istringstream lines(text);
  std::string kept, line;
  while (std::getline(lines, line)) {
    const std::size_t first = line.find_first_not_of(" \t");
    const std::string_view code = first == std::string::npos ? std::string_view() : std::string_view(line).substr(first);
    const bool is_include =
        code.starts_with('#') && code.find("include") != std::string_view::npos &&
        (code.find("\"problem.h\"") != std::string_view::npos || code.find("\"contract.h\"") != std::string_view::npos);
    if (!is_include && code != "#pragma once") kept += line + "\n";
  }
  return kept;
}

std::string commented(const std::string& text) {
  std::istringstream lines(text);
  std::string made, line;
  while (std::getline(lines, line))
    if (line.starts_with("| ") && !line.starts_with("| evidence")) made += "# " + line.substr(2, line.size() - 4) + "\n";
  return made.substr(0, made.empty() ? 0 : made.size() - 1);
}

}  // namespace

Result<std::vector<ExportedFile>> kernelbench_files(const ExportSubject& subject) {
  const EvidencePlaces places{"PROBLEM.py", "KERNEL.cpp"};
  TemplateValues values = operator_values(subject, places);
  KW_TRY(const std::string operator_text, filled_template("native/ops.cpp", values));
  KW_TRY(values["kernel_module"], filled_template("native/kernel_module.py", values));
  std::vector<std::string> flags = cpp_flags();
  flags.emplace_back("-DKW_RUNNER_ENTRY");
  flags.emplace_back("-w");
  if (subject.prepares()) flags.emplace_back("-DKW_HAS_PREPARE");
  values["inline_flags"] = Json(flags).dump();
  values["facts"] = commented(evidence_table(subject, places));
  values["problem_text"] = subject.problem_text;
  values["contract_literal"] = literal(binding_json(subject).dump());
  values["kernel_literal"] = literal("\n" + without_own_includes(subject.kernel_text));
  values["operator_literal"] =
      literal("\n" + without_own_includes(problem_header(subject.problem) + binding_header(subject) + operator_text));
  KW_TRY(std::string text, filled_template("kernelbench/model_new.py", values));
  return std::vector<ExportedFile>{{subject.name + ".py", std::move(text)}};
}

}  // namespace kw
