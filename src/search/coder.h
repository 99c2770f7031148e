// Who writes kernels: strategies in, a kernel out. The embedded playbook is one; models are others.
#pragma once

#include <memory>

#include "playbook/split.h"
#include "record/kernel.h"
#include "record/machine.h"
#include "record/problem.h"
#include "record/run.h"
#include "record/strategy.h"
#include "strategy/pool.h"
#include "vgpu/gpu_sheet.h"

namespace kw {

class Coder {
 public:
  virtual ~Coder() = default;
  // What conditions of strategies are written over.
  [[nodiscard]] virtual const Features& features() const = 0;
  // The same strategies always give the same kernel. What it claims may be less than what was asked for.
  [[nodiscard]] virtual Result<Kernel> write(const std::vector<std::string>& strategies) const = 0;
  // The sub-problems of a problem of many layers; null: it is one piece.
  [[nodiscard]] virtual const Split* split() const { return nullptr; }
  // The kernel in which every sub-problem is computed as chosen for it.
  [[nodiscard]] virtual Result<Kernel> assemble(const std::vector<PartChoice>& choices) const;
  [[nodiscard]] Result<Kernel> carry_out(const Proposal& proposal) const {
    return proposal.parts.empty() ? write(proposal.strategies) : assemble(proposal.parts);
  }
  // The same for another problem, which is this one with smaller sizes: where a kernel is tried that would take too long.
  [[nodiscard]] virtual Result<Kernel> write_for(const ProblemDescription& other, const std::vector<std::string>& strategies) const;
};

// The embedded playbook; an error names the operations that it does not know.
Result<std::unique_ptr<Coder>> playbook_coder(const ProblemDescription& problem, const Machine& machine, int threads);

// The same in OpenCL C, for a device that is this processor.
Result<std::unique_ptr<Coder>> opencl_playbook_coder(const ProblemDescription& problem, const Machine& machine, int threads);

// By the DSL: C++ or OpenCL C.
Result<std::unique_ptr<Coder>> cpu_playbook_coder(const std::string& dsl, const ProblemDescription& problem, const Machine& machine,
                                                  int threads);

// The same for a GPU, in cuda-c or cute.
Result<std::unique_ptr<Coder>> gpu_playbook_coder(const ProblemDescription& problem, const vgpu::GpuSheet& sheet,
                                                  const std::string& precision, const std::string& dsl);

// The DSLs that a playbook writes, by name.
std::vector<std::string> playbook_dsls();

// For problems that the playbook does not know, where a model works alone: no features, and every request is declined.
std::unique_ptr<Coder> no_coder();

// Of these strategies of the pool, those that the coder can put to use for this problem; sorted.
std::vector<std::string> usable_by(const Coder& coder, const StrategyPool& pool, const std::vector<std::string>& ids);

}  // namespace kw
