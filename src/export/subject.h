// One kernel on its way out of the house, with everything that an export says of it.
#pragma once

#include <optional>
#include <string>

#include "record/evaluation.h"
#include "record/machine.h"
#include "record/problem.h"
#include "record/run.h"

namespace kw {

struct ExportSubject {
  std::string name;  // a Python identifier in lower case: of the package, the namespace, the CMake target
  RunRecord run;
  Individual individual;
  std::string kernel_text;  // with the individual's knobs as defaults
  ProblemDescription problem;
  std::string problem_text;
  std::optional<Machine> machine;        // where it was measured
  std::optional<Evaluation> evaluation;  // of this kernel, where the archive has one with a timing
  Json signature;                        // of forward(): parameters, arguments, returns; see docs/oracle-protocol.md
  Json sample;                           // inputs by a formula and what comes of them, for forms that ask for it; same page

  [[nodiscard]] bool prepares() const;  // it repacks weights
  // The fresh measurement of the winner, else what the search saw of this kernel.
  [[nodiscard]] std::vector<Comparison> comparisons() const;
  [[nodiscard]] bool is_confirmed() const;
};

// "50_rms_norm" gives "rms_norm".
std::string export_name(const std::string& problem_name);
// Whether it can name a package, a namespace and a target.
Status check_export_name(const std::string& name);

}  // namespace kw
