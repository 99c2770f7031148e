// A problem file on disk: its description, asked of the oracle once and then cached beside its tensors.
#pragma once

#include "base/files.h"
#include "problem/oracle_client.h"
#include "record/problem.h"

namespace kw {

struct ProblemSource {
  ProblemDescription description;
  fs::path cache_folder;  // for this text of the problem, this PyTorch and this oracle
};

Result<ProblemSource> load_problem(const fs::path& file, OracleClient& oracle);

// PyTorch's version without importing it; empty when it cannot be told from the files.
std::string torch_version_on_disk(const std::string& python);

}  // namespace kw
