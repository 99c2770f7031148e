// Patches as a debugger writes them: find this text, put that in its place. An edit that could mean two places is refused, never
// guessed, and a patch is applied as a whole or not at all.
#pragma once

#include <string>
#include <vector>

#include "agent/answer.h"

namespace kw {

struct Edit {
  std::string find;     // must occur exactly once
  std::string replace;  // may be empty
};

struct Patched {
  std::string source;  // as it was where there is a fault
  std::optional<Fault> fault;
};

// Each edit is applied to what the one before it left. Blanks at the ends of lines and line numbers that were copied along
// ("  12| ") make no difference to what is found.
Patched apply_edits(const std::string& source, const std::vector<Edit>& edits);

}  // namespace kw
