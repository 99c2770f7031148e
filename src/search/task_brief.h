// A problem on this machine as the agents are told of it.
#pragma once

#include "agent/brief.h"
#include "problem/problem_source.h"
#include "record/machine.h"
#include "vgpu/gpu_sheet.h"

namespace kw {

// `zone` and `workload_class` as the run has them; features are empty where no coder knows the problem.
Result<TaskBrief> task_brief(const ProblemSource& problem, const Machine& machine, int threads, const std::string& precision,
                             const Features& features, const std::string& dsl = "cpp");

// The same on a GPU by its data sheet, for kernels in one of its DSLs.
Result<TaskBrief> gpu_task_brief(const ProblemSource& problem, const vgpu::GpuSheet& sheet, const std::string& dsl,
                                 const std::string& precision, const Features& features);

}  // namespace kw
