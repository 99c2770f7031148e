#include "agent/debugger.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "agent/cpp_shape.h"
#include "agent/missing_headers.h"
#include "agent/record_check.h"

namespace kw {
namespace {

constexpr int kDiagnosisTokens = 500, kPatchTokens = 3000;
constexpr std::size_t kLongestText = 1200, kLongestEdit = 20'000;

std::optional<Fault> read_cause(const Exchange& exchange, Desk& desk, Cause& cause) {
  const JsonAnswer answer = json_of_answer(exchange.answer, exchange.finish);
  if (answer.fault) return answer.fault;
  desk.note(answer.mended);
  RecordCheck check(answer.json);
  Cause read;
  read.cause = check.text("cause", kLongestText);
  read.fix = check.text("fix", kLongestText);
  for (const Json& line : check.list("lines", 0, 50))
    if (line.is_number_integer() && line.get<double>() >= 1 && line.get<double>() < 1e6)
      read.lines.push_back(line.get<int>());
    else
      check.problem("lines", "must be a list of line numbers");
  if (!check.problems().empty()) return Fault{AnswerFault::wrong_record, check.problem_text()};
  cause = std::move(read);
  return std::nullopt;
}

std::string cause_text(const Cause& cause) {
  if (cause.cause.empty()) return "";
  std::string text = fmt::format("cause: {}\nfix: {}", cause.cause, cause.fix);
  if (!cause.lines.empty()) text += fmt::format("\nlines: {}", fmt::join(cause.lines, ", "));
  return quoted_lines(text);
}

bool is_mark(const std::string& line, char mark, std::string_view word) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos || line.compare(begin, 5, std::string(5, mark)) != 0) return false;
  return word.empty() || line.find(word) != std::string::npos;
}

// Edits between marks; nothing where there are none.
std::optional<EditAnswer> edit_blocks(const std::string& text) {
  enum class In { outside, find, replace } in = In::outside;
  EditAnswer answer;
  Edit edit;
  const auto without_last = [](std::string part) {
    if (part.ends_with('\n')) part.pop_back();
    return part;
  };
  bool seen = false;
  for (const std::string& line : lines_of(text)) {
    if (in == In::outside && is_mark(line, '<', "")) {
      in = In::find;
      edit = {};
      seen = true;
    } else if (in == In::find && is_mark(line, '=', "")) {
      in = In::replace;
    } else if (in == In::replace && is_mark(line, '>', "")) {
      answer.edits.push_back({without_last(edit.find), without_last(edit.replace)});
      in = In::outside;
    } else if (in != In::outside) {
      (in == In::find ? edit.find : edit.replace) += line + "\n";
    }
  }
  if (!seen) return std::nullopt;
  if (in != In::outside)
    answer.fault = Fault{AnswerFault::cut_off, "an edit has no end: write <<<<<<< FIND, =======, >>>>>>> REPLACE"};
  return answer;
}

}  // namespace

EditAnswer edits_of_answer(std::string_view answer, std::string_view finish) {
  constexpr std::size_t kLongestPatch = 100'000;
  EditAnswer found;
  if (answer.size() > kLongestPatch) {
    found.fault = {AnswerFault::too_long, fmt::format("the answer has {} bytes: make the smallest fix", answer.size())};
    return found;
  }
  if (auto blocks = edit_blocks(plain_answer(answer))) return std::move(*blocks);
  const JsonAnswer json = json_of_answer(answer, finish);
  if (json.fault) {
    found.fault = json.fault;
    if (json.fault->kind == AnswerFault::no_json)
      found.fault->detail = "the answer has no edits: write <<<<<<< FIND, =======, >>>>>>> REPLACE";
    return found;
  }
  RecordCheck check(json.json);
  std::size_t number = 0;
  for (const Json& one : check.list("edits", 1, 20)) {
    RecordCheck part = check.part(one, fmt::format("edits[{}]", number++));
    if (part.problems().empty()) {
      Edit edit;
      edit.find = part.text("find", kLongestEdit);
      if (!one.contains("replace") || !one.at("replace").is_string())
        part.problem("replace", "must be a text");
      else
        edit.replace = one.at("replace").get<std::string>();
      found.edits.push_back(std::move(edit));
    }
    check.take(part);
  }
  if (!check.problems().empty()) found.fault = {AnswerFault::wrong_record, check.problem_text()};
  return found;
}

Repair repair(Desk& desk, const TaskBrief& brief, const Failure& failure) {
  Repair made;
  PromptValues values = values_of(brief, desk.library(), desk.compact());
  values["source"] = quoted_code(with_line_numbers(failure.source), "text");
  values["diagnosis"] = diagnosis_text(failure.verdict, failure.diagnosis, desk.compact());
  values["keep"] = fmt::format("{}", fmt::join(failure.strategies, ", "));
  values["tried"] = quoted_lines(fmt::format("{}", fmt::join(failure.tried, "\n")));
  values["cause"] = "";

  Desk::Question first{
      .role = "debugger", .purpose = "debugger/diagnose", .values = values, .answer_tokens = kDiagnosisTokens, .json = true};
  // A cause that cannot be read is no reason to give up: the evaluator's own diagnosis stands.
  if (const auto fault = desk.ask(first, [&](const Exchange& exchange) { return read_cause(exchange, desk, made.cause); });
      fault && fault->kind == AnswerFault::no_answer) {
    made.fault = fault;
    return made;
  }
  values["cause"] = cause_text(made.cause);
  Desk::Question second{.role = "patch", .purpose = "debugger/patch", .values = values, .answer_tokens = kPatchTokens};
  second.again =
      "Answer again with edits alone: a line <<<<<<< FIND, the lines as they are, a line =======, the lines as they shall be, a "
      "line "
      ">>>>>>> REPLACE.";
  made.fault = desk.ask(second, [&](const Exchange& exchange) -> std::optional<Fault> {
    const EditAnswer answer = edits_of_answer(exchange.answer, exchange.finish);
    if (!answer.fault) {
      const Patched patched = apply_edits(failure.source, answer.edits);
      if (patched.fault) return patched.fault;
      if (const auto problem = signature_problem(patched.source, brief.declaration))
        return Fault{AnswerFault::wrong_signature, *problem};
      made.source = with_missing_headers(patched.source);
      if (made.source != patched.source) desk.note(AnswerFault::missing_header);
      return std::nullopt;
    }
    // Many models answer with the whole kernel: it is what the edits would have made.
    const CodeAnswer whole = code_of_answer(exchange.answer, exchange.finish, brief.declaration, brief.on_gpu());
    if (whole.fault) return answer.fault;
    if (whole.code == failure.source) return Fault{AnswerFault::no_change, "the kernel is the same as before"};
    desk.note(AnswerFault::whole_kernel);
    made.source = whole.code;
    return std::nullopt;
  });
  return made;
}

}  // namespace kw
