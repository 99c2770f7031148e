// The debugger: two calls, diagnose and patch. It sees a Diagnosis and the source with its lines numbered, never a raw log, and
// answers with edits that must fit exactly.
#pragma once

#include "agent/edits.h"
#include "agent/translator.h"

namespace kw {

struct Failure {
  std::string source;
  Verdict verdict = Verdict::compile_failed;
  Diagnosis diagnosis;
  std::vector<std::string> strategies;  // that the kernel is to keep
  std::vector<std::string> tried;       // what earlier repairs changed and what came of it
};

// What the first call says.
struct Cause {
  std::string cause, fix;
  std::vector<int> lines;
};

struct Repair {
  std::string source;  // patched; empty where there is a fault
  Cause cause;
  std::optional<Fault> fault;
};

Repair repair(Desk& desk, const TaskBrief& brief, const Failure& failure);

// Edits as blocks ("<<<<<<< FIND", "=======", ">>>>>>> REPLACE") or as JSON {"edits": [{"find", "replace"}]}.
struct EditAnswer {
  std::vector<Edit> edits;
  std::optional<Fault> fault;
};
EditAnswer edits_of_answer(std::string_view answer, std::string_view finish);

}  // namespace kw
