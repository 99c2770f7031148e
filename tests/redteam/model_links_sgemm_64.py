"""Inline C++ that links with the BLAS inside of PyTorch, by a name for 64-bit integers."""
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = """
extern "C" void sgemm_64_(const char*, const char*, const long*, const long*, const long*, const float*, const float*, const long*,
                          const float*, const long*, const float*, float*, const long*);
torch::Tensor product(torch::Tensor a, torch::Tensor b) {
  const long m = a.size(0), k = a.size(1), n = b.size(1);
  const float one = 1, zero = 0;
  torch::Tensor out = torch::empty({m, n}, a.options());
  sgemm_64_("N", "N", &n, &m, &k, &one, b.data_ptr<float>(), &n, a.data_ptr<float>(), &k, &zero, out.data_ptr<float>(), &n);
  return out;
}
"""
module = load_inline(name="links_sgemm_64", cpp_sources=[SOURCE], functions=["product"])


class ModelNew(nn.Module):
    def forward(self, a, b):
        return module.product(a, b)
