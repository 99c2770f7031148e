// A search on each problem of a folder, one after the other; it can be ended at any moment, and the same request goes on from
// there.
#pragma once

#include <atomic>
#include <functional>

#include "record/suite.h"
#include "search/run.h"
#include "suite/scaling.h"

namespace kw {

struct SuiteRequest {
  fs::path folder;
  fs::path results;  // a folder
  SuiteSettings settings;
  ScaleLimits scale;
  std::vector<std::string> only;  // search only problems with one of these in their names; empty: all
  bool again = false;             // forget what an earlier session left there of them
  bool unsafe_no_sandbox = false;
};

struct SuiteProgress {
  const SuiteRecord* suite = nullptr;
  std::size_t position = 0, count = 0;  // of the problems of this session, from 1
  std::string problem;
  std::string doing;                   // where there is no run yet
  const RunProgress* run = nullptr;    // of the search that goes on
  const SuiteRow* finished = nullptr;  // a problem that has just been done
};

struct SuiteOutcome {
  SuiteRecord suite;
  bool all_passed = false;  // of the problems that were asked for
  bool interrupted = false;
};

Result<SuiteOutcome> run_suite(const SuiteRequest& request, const std::function<void(const SuiteProgress&)>& on_progress,
                               const std::atomic<bool>& stop);

}  // namespace kw
