// Who writes what a proposal with an author asks for: a model, where one takes part. Trials hand the work over and judge what comes
// back like any other kernel.
#pragma once

#include <string>
#include <vector>

#include "record/run.h"

namespace kw {

struct Written {
  Proposal proposal;                 // as it was carried out: a decision may have become a repair, ideas have become strategies
  Kernel kernel;                     // an empty source: there is none
  std::string failure;               // then why, in a sentence
  std::vector<std::string> faults;   // of the answers, by name, mended ones too
  std::vector<std::string> remarks;  // what else is worth knowing
  std::vector<Strategy> invented;    // strategies of the run from now on
  std::vector<std::string> prompts;  // of the exchanges that led to it
  double seconds = 0;
};

class Author {
 public:
  virtual ~Author() = default;
  // In the order of the proposals; what fails is in the outcome. The individuals so far are known to the author.
  virtual std::vector<Written> write(const std::vector<Proposal>& proposals) = 0;
  // Settles what the machine's alignment left unknown, as far as that can be done.
  virtual void settle(Individual& individual) = 0;
};

}  // namespace kw
