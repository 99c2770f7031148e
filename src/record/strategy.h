// One optimisation idea as data: what it changes, where it pays, what it promises and what shows that the code does it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"

namespace kw {

// One thing to look for in a kernel that claims a strategy.
struct EvidenceCheck {
  // source, assembly (every function of the kernel's object), hot_loop (the innermost hot loops alone), ptx, or ptx_facts (words
  // for what follows from several lines of it: strategy/ptx_facts.h)
  std::string where;
  std::string pattern;  // a regular expression (ECMAScript), matched within one line
  bool absent = false;  // it must not be there
  std::string isa;      // x86 or arm: says nothing elsewhere; empty: on all
};

struct Strategy {
  std::string id;                    // unique, snake_case
  std::string name;                  // in words: "keep a 12x32 output tile in registers"
  std::string target = "cpu";        // cpu or gpu: what kernels it is for
  std::string lever;                 // one of levers(target)
  std::vector<std::string> zones;    // where it should pay: memory, balanced, compute, latency
  std::vector<std::string> classes;  // workload classes; empty: all
  std::string applies;               // to what, in words
  std::vector<std::string> when;     // the same for the machine: comparisons over features, all of which must hold
  std::map<std::string, std::vector<std::int64_t>> knobs;
  double predicts = 1;                  // times faster than the same kernel without it
  std::vector<EvidenceCheck> evidence;  // all must hold; none: it cannot be decided
  bool rounding = false;                // results are rounded otherwise than by plain sums: worth a closer look at its precision
  bool telling = false;                 // the evidence alone shows it: a kernel that never claimed it does it nevertheless
  std::vector<std::string> conflicts;   // ids that cannot be in the same kernel
  std::vector<std::string> needs;       // ids without which it makes no sense
  std::string why;                      // the idea, in a sentence or two
};

// The closed vocabularies: of levers, of zones, and of the names that workload classes have.
std::span<const std::string_view> levers(std::string_view target = "cpu");
std::span<const std::string_view> zones();
std::span<const std::string_view> workload_classes();

// What a problem is like, by name: "rows", "row_elements", "output_bytes", ... A feature that is not there is 0.
using Features = std::map<std::string, double>;

// What became of a strategy in one kernel.
enum class Presence { present, struck, added, unknown };  // struck: claimed and absent; added: there and not claimed
std::string_view name_of(Presence presence);

struct AlignedStrategy {
  std::string id;
  Presence presence = Presence::unknown;
  std::string evidence;  // what was seen or missed, in a few words
};

// What one comparison of two kernels, or of a kernel with the run's first, says of a strategy.
struct LedgerEntry {
  std::string strategy;
  std::string zone;
  std::string workload_class;
  double predicted = 1;  // times faster
  double measured = 1;   // the same, as it was; NaN is never stored: a kernel that failed has `failed`
  bool failed = false;   // it led to a kernel that did not pass
  std::string run;
  std::int64_t individual = 0;  // of that run
};

void to_json(Json& json, const EvidenceCheck& check);
void from_json(const Json& json, EvidenceCheck& check);
void to_json(Json& json, const Strategy& strategy);
void from_json(const Json& json, Strategy& strategy);  // optional fields may be left out
void to_json(Json& json, const AlignedStrategy& aligned);
void from_json(const Json& json, AlignedStrategy& aligned);
void to_json(Json& json, const LedgerEntry& entry);
void from_json(const Json& json, LedgerEntry& entry);

}  // namespace kw
