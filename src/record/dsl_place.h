// Where kernels of a DSL run, for rooms that see records only; the table of DSLs says the same, and a test compares the two.
#pragma once

#include <string_view>

namespace kw {

// Kernels for a GPU: their time is estimated, unless that GPU is here. Others run and are timed on this machine.
inline bool is_for_gpu(std::string_view dsl) { return dsl != "cpp" && dsl != "opencl" && dsl != "kernelbench"; }

// Kernels that are timed on a GPU, where it is here; the others for a GPU are estimated all the same.
inline bool is_timed_on_gpu(std::string_view dsl) { return dsl == "cuda-c" || dsl == "cute"; }

// Which strategies kernels in it are written with.
inline std::string_view target_of(std::string_view dsl) { return is_for_gpu(dsl) ? "gpu" : dsl == "opencl" ? "opencl" : "cpu"; }

}  // namespace kw
