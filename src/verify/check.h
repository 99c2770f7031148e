// One call of the kernel on one set of tensors, and its outputs compared with the references.
#pragma once

#include <functional>

#include "dsl/session_tensors.h"
#include "record/verdict.h"

namespace kw {

struct CheckOutcome {
  CheckResult result;
  Verdict verdict = Verdict::passed;
  Diagnosis diagnosis;
  std::uint64_t fingerprint = 0;             // of the outputs' bytes
  std::int64_t elements = 0, unwritten = 0;  // of the outputs; counted where only what was written is compared
  bool heard_again = false;                  // passed only beside what eager errs by on inputs next to these
};

// Which elements count: all of them, or only those that the call has written, where it was a sample of the kernel's blocks.
enum class Compared { all, written };

// What eager errs by on inputs next to a set's (TensorStore::nearby_noise). Asked for only where an output is a little beyond its
// tolerance: eager may have been lucky there.
using NearbyNoise = std::function<Result<SafetensorsFile>(const TensorSet&)>;
NearbyNoise nearby_noise_of(const TensorStore& store, OracleClient& oracle);

inline constexpr std::string_view kHeardAgain =
    "eager errs by less on some of these inputs than on inputs next to them: the tolerance follows the latter";

// Reads the outputs that stand in an out slot and compares them with the set's reference.
Result<CheckOutcome> check_outputs(Session& session, const ProblemDescription& problem, const TensorSet& set, int out_slot,
                                   const std::string& precision, const NearbyNoise& nearby, Compared compared = Compared::all);

}  // namespace kw
