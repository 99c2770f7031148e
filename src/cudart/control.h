// For a process that hosts a program for the virtual GPU without an environment or files: the shared library's own functions. The
// host brings tensors to the device and takes results back; the program sees device pointers that only kernels and copies can
// follow.
#pragma once

#include <cstddef>

extern "C" {

// Before the first use of the GPU; 0, or the value of a cudaError_t. `gpu` is an id such as "a100" or the path of a sheet; findings
// go only to the report.
int kw_vgpu_configure(const char* gpu, int checks, int counters, int threads, double deadline_seconds);

// The same for a host that will let a stranger's code in: `facts` is JSON of what ptxas said, as in settings.h, or null; `seed` is
// of what no GPU promises, as in vgpu/surroundings.h. Threads are started now, and device memory is closed to code of the host
// outside of calls of the runtime.
int kw_vgpu_host(const char* gpu, int checks, int counters, int threads, double deadline_seconds, const char* facts,
                 unsigned long long seed);

// From now on a launch begins no further block after so many seconds, and its report says how many of how many ran; 0: all of
// them, as ever. Cooperative launches are never cut: their blocks wait for each other.
void kw_vgpu_sample(double seconds);

// A tensor, known to findings by its name; null where there is no memory. Kernels cannot write to a read-only one.
void* kw_vgpu_allocate(const char* name, std::size_t bytes, int read_only);
void kw_vgpu_put(void* device, const void* host, std::size_t bytes);
void kw_vgpu_get(void* host, const void* device, std::size_t bytes);
// Fills a tensor with a pattern of 8 bytes; it counts as never written.
void kw_vgpu_poison(void* device, const void* pattern, std::size_t bytes);
// How many bytes of a tensor no kernel, copy or fill has written since. Only where checks are on.
std::size_t kw_vgpu_unwritten(const void* device);

// What the program asks between these two: bytes that it copied to and from memory of the host, and how often it asked for memory
// of the host that kernels can use. `end` waits for all work and gives the first error, as a cudaError_t.
struct kw_vgpu_traffic {
  std::size_t to_host, to_device, host_allocations;
};
void kw_vgpu_begin(void);
int kw_vgpu_end(kw_vgpu_traffic* traffic);

// JSON lines about launches and findings since the last call, as the file that KERNELWRIGHT_VGPU_REPORT names would have them.
// Writes nothing and gives the size that is needed where the buffer is too small.
std::size_t kw_vgpu_take_report(char* buffer, std::size_t capacity);

}  // extern "C"
