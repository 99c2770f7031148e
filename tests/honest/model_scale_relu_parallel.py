"""Inline C++ with what PyTorch has for memory and threads: allocation, views, copies between types, at::parallel_for."""
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = """
#include <ATen/Parallel.h>
at::Tensor scale_relu(const at::Tensor& x) {
  TORCH_CHECK(x.scalar_type() == at::kFloat, "float32 only");
  const at::Tensor from = x.t().contiguous().t().contiguous().to(at::kDouble).to(at::kFloat);
  at::Tensor out = at::empty_like(from), seen = at::zeros({at::get_num_threads()}, x.options().dtype(at::kLong));
  seen.fill_(1).select(0, 0).copy_(at::ones({}, seen.options()));
  const float* a = from.const_data_ptr<float>();
  float* o = out.mutable_data_ptr<float>();
  at::parallel_for(0, x.numel(), 1024, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) o[i] = (a[i] > 0 || a[i] != a[i] ? a[i] : 0.0f) * 2.5f;
  });
  return out.view(x.sizes()).slice(0, 0, x.size(0));
}
"""
extension = load_inline(name="scale_relu_parallel", cpp_sources=[SOURCE], functions=["scale_relu"], extra_cflags=["-O3", "-fopenmp"])


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.scale_relu(x)
