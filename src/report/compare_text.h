// Two runs side by side, in words: what differed between them, and which came further.
#pragma once

#include <string>

#include "base/json.h"
#include "report/run_view.h"
#include "report/terminal.h"

namespace kw {

std::string compare_text(const RunView& first, const RunView& second, const Paint& paint);
Json compare_json(const RunView& first, const RunView& second);

}  // namespace kw
