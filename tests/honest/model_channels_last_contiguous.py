"""Gives its output contiguous where Model's is channels_last: the values are the answer."""
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = """
at::Tensor relu_scaled(const at::Tensor& x) {
  at::Tensor out = at::empty(x.sizes(), x.options());
  const float* from = x.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  for (std::int64_t n = 0, i = 0; n < x.size(0); ++n)
    for (std::int64_t c = 0; c < x.size(1); ++c)
      for (std::int64_t h = 0; h < x.size(2); ++h)
        for (std::int64_t w = 0; w < x.size(3); ++w, ++i) {
          const float v = from[n * x.stride(0) + c * x.stride(1) + h * x.stride(2) + w * x.stride(3)];
          to[i] = (v > 0 || v != v ? v : 0.0f) * 2.0f + 1.0f;
        }
  return out;
}
"""
extension = load_inline(name="relu_scaled_contiguous", cpp_sources=[SOURCE], functions=["relu_scaled"], extra_cflags=["-O2"])


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.relu_scaled(x)
