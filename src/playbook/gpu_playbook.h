// The embedded coder for GPUs: reads a problem's graph and writes complete sources in CUDA-C, CuTe, Triton or TileLang that realise
// strategies. It reads shapes and operations, never names or files, and it compiles and runs nothing.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "record/kernel.h"
#include "record/problem.h"
#include "record/strategy.h"

namespace kw {

// Of the GPU that the kernel is for; a data sheet of knowledge/gpus says them.
struct GpuFacts {
  int compute_capability = 80;
  int sms = 108;
  int max_threads_per_sm = 2048;
  int shared_bytes_per_block = 163 * 1024;  // with the opt-in that launches ask for
  int shared_bytes_per_sm = 164 * 1024;
  int registers_per_sm = 65536;
  double memory_bytes_per_second = 1.5e12;
  double fp32_flops = 19.5e12;
  std::string precision = "float32";  // the contract: tf32 lets products of floats round their factors
};

// What is written with the same families: OpenCL C is a dialect of CUDA-C, spelled otherwise, for devices that are CPUs.
enum class GpuDialect { cuda_c, cute, opencl };

class GpuPlaybook {
 public:
  // `dsl`: "cuda-c", "cute", "triton" or "tilelang". Error (bad_input): names the operations that it does not know, and where they
  // are.
  static Result<GpuPlaybook> read(const ProblemDescription& problem, const GpuFacts& gpu, std::string_view dsl);

  // What conditions of strategies are written over; the README lists them.
  [[nodiscard]] const Features& features() const;

  // The source that realises what it can of these strategies; its claims are what it really does. {}: the plain one, a kernel for
  // each operation, a thread for each element of its result.
  [[nodiscard]] Result<Kernel> write(const std::vector<std::string>& strategies) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace kw
