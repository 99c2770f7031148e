// What a run starts from: a new record, or that of an archived run.
#pragma once

#include "archive/archive.h"
#include "search/run.h"

namespace kw {

// A new run, or an archived one to be continued.
Result<RunRecord> begin_run(const RunRequest& request, Archive& archive);

// A run stays where it began: timed on the GPU of this machine, or estimated.
Status choose_gpu(RunRecord& run, Evaluator& evaluator, std::vector<std::string>& notes);

// "float32[64,512] float32[512]": the arguments, as far as they fit into a line.
std::string shape_words(const ProblemDescription& problem);

// What ended a run before it had a kernel; where it was stopped, with what it was doing.
Error before_the_search(Error error, const RunRecord& run, const std::string& doing);

}  // namespace kw
