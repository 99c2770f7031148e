#include <cutlass/gemm/device/gemm.h>
#include <cutlass/numeric_types.h>

#include "../check.h"

// CUTLASS's own device GEMM for SM80: float16 in, float32 sums, tensor cores, a pipeline of three stages.
using Gemm = cutlass::gemm::device::Gemm<cutlass::half_t, cutlass::layout::RowMajor, cutlass::half_t, cutlass::layout::ColumnMajor, float,
                                         cutlass::layout::RowMajor, float, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80,
                                         cutlass::gemm::GemmShape<64, 64, 32>, cutlass::gemm::GemmShape<32, 32, 32>,
                                         cutlass::gemm::GemmShape<16, 8, 16>, cutlass::epilogue::thread::LinearCombination<float, 4, float, float>,
                                         cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 3>;

int main() {
  const int m = 128, n = 64, k = 64;
  const float alpha = 1.5f, beta = 0.5f;
  Numbers numbers;
  std::vector<cutlass::half_t> a(m * k), b(k * n);
  for (auto& v : a) v = cutlass::half_t(numbers.around());
  for (auto& v : b) v = cutlass::half_t(numbers.around());
  auto c = numbers.floats(m * n);
  std::vector<double> want(m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int l = 0; l < k; ++l) sum += static_cast<double>(float(a[i * k + l])) * float(b[j * k + l]);
      want[i * n + j] = alpha * sum + beta * c[i * n + j];
    }
  OnDevice<cutlass::half_t> da(a), db(b);
  OnDevice<float> dc(c), dd(m * n);
  Gemm gemm;
  const cutlass::Status status = gemm({{m, n, k}, {da.data, k}, {db.data, k}, {dc.data, n}, {dd.data, n}, {alpha, beta}});
  if (status != cutlass::Status::kSuccess) std::printf("CUTLASS: %s\n", cutlassGetStatusString(status)), ++wrong_values;
  expect_all_close(dd.host(), want, 1e-4, "d");
  return finish();
}
