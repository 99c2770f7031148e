// One reduction of each row, several rows at a time: as many streams of memory, and no chain of additions to wait for.
#pragma once

#include "playbook/stage.h"

namespace kw {

// Writes a stage whose only reduction is along its rows, with nothing else along them. False: it is another kind of stage, or has
// no vector form, and nothing was written.
bool write_rows_together(StageWriter& writer, const Stage& stage, std::int64_t rows, std::int64_t work);

}  // namespace kw
