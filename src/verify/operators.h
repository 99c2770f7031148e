// What PyTorch's own operators did in a call of ModelNew, in words.
#pragma once

#include "dsl/session.h"

namespace kw {

// Nothing where they did nothing. The shares are of a call that was watched, which takes longer than others.
std::vector<std::string> notes_on_operators(const WatchedCall& watched);

}  // namespace kw
