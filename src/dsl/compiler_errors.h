// Digests what a compiler or linker printed into the first real error, with its line in the kernel.
#pragma once

#include "dsl/kernel.h"

namespace kw {

// Whether the clock or the processor time ended it: its own or that of a program that it started.
bool ran_out_of_time(const sandbox::Outcome& outcome);
// What is said of it then; `hint` is what to do about it but for giving it more time.
CompileOutcome compiler_out_of_time(const CompileOptions& options, const std::string& hint);

// `declaration` is the entry point's, for errors about it; `compiled_as` is what the compiler knows the kernel's file as.
Diagnosis digest_compiler_errors(const std::string& output, const std::string& kernel_file, const std::string& declaration,
                                 std::string_view compiled_as = "kernel.cpp");

// The same for what nvcc printed: of its own front end, the host's compiler, ptxas or the linker. The kernel was compiled as
// kernel.cu.
Diagnosis digest_nvcc_errors(const std::string& output, const std::string& kernel_file, const std::string& declaration);

}  // namespace kw
