// What decides an evaluation's outcome beside the kernel, the problem and the versions: limits, measured ceilings, the GPU's data
// sheet, settings of the environment. And which outcomes an archive may give again. It evaluates nothing.
#pragma once

#include <map>
#include <string>

#include "search/evaluator.h"

namespace kw {

// By name, for EvaluationKey::conditions.
Result<KnobValues> conditions_of(const EvaluatorOptions& options, const Machine& machine, bool on_gpu);

// Variables of `environment` ("NAME=value", ended by a null) that change how PyTorch or OpenMP work, but for those that every
// process of an evaluation is given anyway.
KnobValues telling_settings(const char* const* environment);

// Whether evaluating again could not say otherwise. What hangs on how busy the machine was, or rests on less than is asked for
// now, is evaluated again.
bool still_holds(const VerdictRecord& verdict, const EvaluatorOptions& options);
bool still_holds(const TimingRecord& timing, const EvaluatorOptions& options);

}  // namespace kw
