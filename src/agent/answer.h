// A model's answer, taken apart: one kernel or one JSON value out of the text around it. Everything that can be wrong with an
// answer has a name; what can be mended without guessing is mended and named too. Nothing here asks a model again.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace kw {

enum class AnswerFault {
  no_answer,        // the model could not be reached, or gave up
  empty,            // nothing but blanks, or nothing after its thoughts
  too_long,         // more than any kernel needs
  cut_off,          // it ends in the middle
  no_code,          // no code block, and the text itself is no code
  several_blocks,   // more than one kernel, and they differ
  prose_in_code,    // sentences between the lines of code
  elided,           // "... the rest as before" in place of code
  wrong_language,   // Python, CUDA, ... where C++ was asked for
  wrong_signature,  // no kw_kernel, or one with other arguments
  unclosed_fence,   // the code block has no end
  no_json,          // no object in it
  broken_json,      // cannot be read
  wrong_record,     // readable, but fields are missing or have values that make no sense
  absent_edit,      // an edit looks for text that is not there
  ambiguous_edit,   // an edit looks for text that is there more than once
  no_change,        // edits that change nothing
  near_repeat,      // an idea that is there already
  whole_kernel,     // a complete kernel where edits were asked for
  unproven,         // a quotation that is not in the code
  missing_header,   // names of std:: whose header is not included
};
std::string_view name_of(AnswerFault fault);

struct Fault {
  AnswerFault kind = AnswerFault::no_answer;
  std::string detail;  // a sentence that the model can act on
};

// Without thoughts between tags, in LF lines, without what no text has.
std::string plain_answer(std::string_view answer);

struct CodeAnswer {
  std::string code;                 // ends with a newline; empty where there is a fault
  std::optional<Fault> fault;       // why there is no code
  std::vector<AnswerFault> mended;  // what was wrong and is no more
};

// The kernel in an answer. `declaration` is that of kw_kernel, as problem.h has it; `finish` as in Exchange.
// `cuda`: it has to be CUDA, not C++ for the host.
CodeAnswer code_of_answer(std::string_view answer, std::string_view finish, const std::string& declaration, bool cuda = false);

struct JsonAnswer {
  Json json;  // an object
  std::optional<Fault> fault;
  std::vector<AnswerFault> mended;
};

JsonAnswer json_of_answer(std::string_view answer, std::string_view finish);

// What is wrong with the arguments of the kernel in this text; nothing where they fit, as far as can be told without a compiler.
std::optional<std::string> signature_problem(const std::string& code, const std::string& declaration);

}  // namespace kw
