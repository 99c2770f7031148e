#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "../check.h"

// Arithmetic in half precision, packed and not, and in bfloat16, with conversions.
__global__ void compute(const half2* a, const half2* b, half2* fma, half* exponential, __nv_bfloat16* brain, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  fma[i] = __hmax2(__hfma2(a[i], b[i], __float2half2_rn(0.25f)), __float2half2_rn(-0.5f));
  exponential[i] = hexp(__low2half(a[i]));
  const __nv_bfloat16 x = __float2bfloat16(__high2float(a[i]));
  brain[i] = x * x + __float2bfloat16(1.0f);
}

int main() {
  const int n = 500;
  Numbers numbers;
  std::vector<half2> a(n), b(n);
  for (int i = 0; i < n; ++i)
    a[i] = __floats2half2_rn(numbers.around(), numbers.around()), b[i] = __floats2half2_rn(numbers.around(), numbers.around());
  OnDevice<half2> da(a), db(b), fma(n);
  OnDevice<half> exponential(n);
  OnDevice<__nv_bfloat16> brain(n);
  compute<<<4, 128>>>(da.data, db.data, fma.data, exponential.data, brain.data, n);
  const auto got = fma.host();
  const auto exps = exponential.host();
  const auto brains = brain.host();
  for (int i = 0; i < n; ++i) {
    const float low = __half2float(__low2half(a[i])), high = __half2float(__high2half(a[i]));
    const auto want = [](float x, float y) { return std::max(__half2float(__float2half(x * y + 0.25f)), -0.5f); };
    expect_close(__half2float(__low2half(got[i])), want(low, __half2float(__low2half(b[i]))), 0, "low", i);
    expect_close(__half2float(__high2half(got[i])), want(high, __half2float(__high2half(b[i]))), 0, "high", i);
    expect_close(__half2float(exps[i]), std::exp(low), 2e-3, "exp", i);
    const float x = __bfloat162float(__float2bfloat16(high));
    expect_close(__bfloat162float(brains[i]), x * x + 1, 1e-2, "bfloat16", i);
  }
  return finish();
}
