// For a process that hosts a program for the virtual GPU without an environment or files: the shared library's own functions.
#pragma once

#include <cstddef>

extern "C" {

// Before the first use of the GPU; 0, or the value of a cudaError_t. `gpu` is an id such as "a100"; findings go only to the report.
int kw_vgpu_configure(const char* gpu, int checks, int counters, int threads, double deadline_seconds);

// JSON lines about launches and findings since the last call, as the file that KERNELWRIGHT_VGPU_REPORT names would have them.
// Writes nothing and gives the size that is needed where the buffer is too small.
std::size_t kw_vgpu_take_report(char* buffer, std::size_t capacity);

}  // extern "C"
