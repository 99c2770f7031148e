// A model as it was chosen on the command line.
#pragma once

#include <atomic>
#include <memory>

#include "cli/commands.h"
#include "llm/model.h"

namespace kw {

Result<std::unique_ptr<Model>> opened_model(const ModelChoice& choice, Output& output, const std::atomic<bool>& cancelled);

}  // namespace kw
