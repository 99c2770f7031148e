// A problem on this machine as the agents are told of it.
#pragma once

#include "agent/brief.h"
#include "problem/problem_source.h"
#include "record/machine.h"

namespace kw {

// `zone` and `workload_class` as the run has them; features are empty where no coder knows the problem.
Result<TaskBrief> task_brief(const ProblemSource& problem, const Machine& machine, int threads, const std::string& precision,
                             const Features& features);

}  // namespace kw
