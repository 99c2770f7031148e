"""An operator of the file's own extension, as packages register theirs."""
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

load_inline(name="scale_relu_operator", is_python_module=False, extra_cflags=["-O3"], cpp_sources="""
#include <torch/library.h>
#include <ATen/ATen.h>
at::Tensor scale_relu(const at::Tensor& x) {
  at::Tensor out = at::empty_like(x);
  const float* from = x.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < x.numel(); ++i) to[i] = (from[i] > 0 || from[i] != from[i] ? from[i] : 0.0f) * 2.5f;
  return out;
}
TORCH_LIBRARY(kw_scale_relu, m) { m.def("forward(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(kw_scale_relu, CPU, m) { m.impl("forward", &scale_relu); }
""")


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.ops.kw_scale_relu.forward(x)
