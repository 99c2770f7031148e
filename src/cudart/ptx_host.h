// For a process that has PTX and memory of its own but no CUDA runtime, such as Python with Triton: kernels are loaded by their
// text and launched over memory of the host. Every function is C's and throws nothing; what went wrong is kw_vgpu_text().
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

struct kw_vgpu_device;
struct kw_vgpu_kernel;

// Text about the last call of this thread: what went wrong, or the JSON that the call gave. Stays until the thread's next call.
const char* kw_vgpu_text(void);

// A GPU of its own, independent of the runtime's. `gpu` is an id such as "a100" or the path of a sheet. `report_file` gets JSON
// lines of every launch; null or "" for none. Null where it cannot be had.
kw_vgpu_device* kw_vgpu_open(const char* gpu, const char* report_file);
void kw_vgpu_close(kw_vgpu_device* device);
// threads 0: as many as the machine has cores; seconds 0: no limit for a launch.
void kw_vgpu_set(kw_vgpu_device* device, int checks, int counters, int threads, double seconds);
// JSON of what the data sheet says; its fields are named where Python reads them.
const char* kw_vgpu_describe(kw_vgpu_device* device);

// The kernel of that name in a module of PTX; the module belongs to it. `registers` of a thread, as ptxas says; 0: unknown. Null
// where the PTX is wrong or has what the virtual GPU has not.
kw_vgpu_kernel* kw_vgpu_load(kw_vgpu_device* device, const char* ptx, const char* name, int registers);
void kw_vgpu_unload(kw_vgpu_kernel* kernel);
// How many parameters it has. The first `capacity` of them: where each begins, and its bytes.
std::size_t kw_vgpu_parameters(const kw_vgpu_kernel* kernel, std::uint32_t* offsets, std::uint32_t* sizes, std::size_t capacity);

// Memory of the host that a launch may use; all of it counts as initialised. Ranges that overlap count as one.
struct kw_vgpu_range {
  void* begin;
  std::size_t bytes;
  const char* name;
};
// shape: blocks and then threads in x, y and z. Bits of the answer:
enum { kw_vgpu_findings = 1, kw_vgpu_printed = 2, kw_vgpu_failed = 4 };
// kw_vgpu_text() is the error where it failed, else a JSON array of findings where there are any.
int kw_vgpu_launch(kw_vgpu_kernel* kernel, const std::uint32_t* shape, std::uint32_t dynamic_shared, const void* parameters,
                   std::size_t parameter_bytes, const kw_vgpu_range* ranges, std::size_t range_count);
// What kernels printed since the last call, as text; its size, for it may contain zeros.
std::size_t kw_vgpu_take_printed(kw_vgpu_device* device);

// Of the last launch with counters: JSON of the counts, and the estimated seconds on the GPU. Null and below 0 where there was
// none.
const char* kw_vgpu_counters(kw_vgpu_device* device);
double kw_vgpu_estimate(kw_vgpu_device* device);

}  // extern "C"
