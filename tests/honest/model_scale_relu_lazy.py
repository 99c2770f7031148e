"""Its extension is built and imported at the first call, and Python's compiled modules with it."""
import torch
import torch.nn as nn

SOURCE = """
#include <torch/extension.h>
torch::Tensor scale_relu(torch::Tensor x) {
  auto out = torch::empty_like(x);
  const float* a = x.data_ptr<float>();
  float* o = out.data_ptr<float>();
  for (std::int64_t i = 0; i < x.numel(); ++i) o[i] = (a[i] > 0 || a[i] != a[i] ? a[i] : 0.0f) * 2.5f;
  return out;
}
"""


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.extension = []

    def forward(self, x):
        if not self.extension:
            import decimal
            import sqlite3
            import statistics

            from torch.utils.cpp_extension import load_inline

            assert decimal.Decimal(1) == 1 and sqlite3.sqlite_version and statistics.fmean([2.5]) == 2.5
            self.extension.append(load_inline(name="scale_relu_lazy", cpp_sources=[SOURCE], functions=["scale_relu"], extra_cflags=["-O3"]))
        return self.extension[0].scale_relu(x.contiguous())
