// The aligner: what a kernel does where the machine's own check is undecided. A claim counts only with a line of the code that
// shows it; what the model cannot quote stays unknown.
#pragma once

#include "agent/brief.h"
#include "agent/desk.h"

namespace kw {

// Changes the unknown ones among `aligned` and nothing else; `strategies` are what they stand for.
void settle_unknown(Desk& desk, const TaskBrief& brief, const std::string& source, const std::vector<Strategy>& strategies,
                    std::vector<AlignedStrategy>& aligned);

}  // namespace kw
