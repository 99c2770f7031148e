// A verdict on a candidate, and the diagnosis that every verdict but `passed` carries.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace kw {

enum class Verdict {
  passed,
  forbidden,
  compile_failed,
  crashed,
  timed_out,
  out_of_memory,
  wrong,
  imprecise,
  mistrusted,
};
std::string_view name_of(Verdict verdict);
Result<Verdict> verdict_from_name(std::string_view name);

// Why a candidate failed. Digested: never a raw log.
struct Diagnosis {
  std::string stage;                  // screen, compile, load, prepare, run, compare, measure
  std::string summary;                // one sentence
  std::string place;                  // "kernel.cpp:12", "out[3, 0..7]", "input 'x', 16 bytes past its end"; may be empty
  std::vector<std::string> evidence;  // a few short lines
  std::string hint;                   // what to try
  std::string pattern;                // for wrong results: tail, transposed, constant_factor, uninitialised, ...; may be empty
};

// One output of one check, against float64 and beside eager's own error.
struct OutputError {
  std::string output;
  double max_error = 0;        // largest |kernel - reference|
  double max_error_eager = 0;  // the same for eager
  double rms_error = 0;        // relative to the reference's rms
  double rms_error_eager = 0;
  double worst_of_tolerance = 0;  // largest |kernel - reference| / tolerance; at most 1 is right
  std::int64_t wrong_elements = 0;
  std::int64_t elements = 0;
};

// One call that was compared with the reference.
struct CheckResult {
  std::string distribution;
  std::string weights;  // given, fresh or seeded
  std::uint64_t seed = 0;
  int threads = 0;
  bool passed = false;
  std::vector<OutputError> outputs;
};

struct VerdictRecord {
  Verdict verdict = Verdict::mistrusted;
  Diagnosis diagnosis;  // empty when passed
  std::vector<CheckResult> checks;
  std::vector<std::string> notes;
  std::string sandbox;                // bubblewrap, landlock, none
  std::string precision = "float32";  // the contract that was applied
  std::string repeat;                 // the command that repeats it
  std::uint64_t chosen_seed = 0;      // whoever asked chose the inputs; 0: they were drawn once the kernel was compiled
  double gpu_budget_seconds = 0;      // of calls on a virtual GPU: how long kinds of inputs were begun; 0: there was no such limit
  double compile_seconds = 0;
  double run_seconds = 0;
  double compare_seconds = 0;
};

void to_json(Json& json, const Diagnosis& diagnosis);
void from_json(const Json& json, Diagnosis& diagnosis);
void to_json(Json& json, const OutputError& error);
void from_json(const Json& json, OutputError& error);
void to_json(Json& json, const CheckResult& check);
void from_json(const Json& json, CheckResult& check);
void to_json(Json& json, const VerdictRecord& record);
void from_json(const Json& json, VerdictRecord& record);

}  // namespace kw
