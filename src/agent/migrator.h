// The migrator: a kernel in one DSL, and the counterparts of what it does, become one complete kernel in another.
#pragma once

#include "agent/translator.h"

namespace kw {

struct MigrationTask {
  std::string source;                // the kernel that is there
  std::string from;                  // its DSL, by name
  std::vector<Strategy> strategies;  // of the target, to realise
};

// `brief` is of the target.
WrittenKernel migrate_kernel(Desk& desk, const TaskBrief& brief, const MigrationTask& task);

}  // namespace kw
