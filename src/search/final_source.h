// The kernel as it is handed over: with the winning values of its knobs as its defaults, and where it comes from at the top.
#pragma once

#include "record/machine.h"
#include "record/run.h"

namespace kw {

// Replaces the defaults of knobs (`#define KW_TILE 32` below `#ifndef KW_TILE`) in the text.
std::string with_knobs(const std::string& source, const KnobValues& knobs);

// A comment of a few lines: the run, the problem, what was measured where.
std::string provenance(const RunRecord& run, const Machine& machine);

// The whole text of a run's kernel for a file of its own: both of these.
std::string handed_over(const RunRecord& run, const Individual& individual, const Machine& machine);

}  // namespace kw
