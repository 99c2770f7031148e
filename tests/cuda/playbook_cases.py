"""Small problems of every family that the GPU playbook knows: name -> (what __init__ makes, what forward(self, *inputs) returns, the inputs)."""

CASES = {
    # pointwise, views, movement
    "relu_scale": ("", "torch.relu(x) * 2.5 + 1", "randn(7, 33)"),
    "broadcast_chain": ("self.b = nn.Parameter(torch.randn(48))", "torch.tanh(x * self.b + y)", "randn(6, 5, 48), randn(5, 1)"),
    "long_chain": ("", "torch.tanh(x * 2) + y", "randn(70, 96), randn(96)"),
    "activations": ("", "F.gelu(x) + F.silu(x) * torch.sigmoid(x) - F.mish(x) + F.softplus(x) + F.elu(x)", "randn(64, 32)"),
    "masked": ("", "torch.where(x > 0.5, x, torch.full_like(x, -1.0)) + (x < y).float()", "randn(12, 20), randn(12, 20)"),
    "transposed_sum": ("", "x.t() + y", "randn(96, 70), randn(70, 96)"),
    "permuted": ("", "x.permute(0, 2, 3, 1).contiguous()", "randn(2, 9, 10, 12)"),
    "turned_batch": ("", "torch.relu(x.transpose(1, 2)) + y", "randn(3, 45, 70), randn(70, 45)"),
    "channels_last": ("self.n = nn.BatchNorm2d(6).eval()", "torch.relu(self.n(x)) * 2", "randn(2, 6, 9, 10).to(memory_format=torch.channels_last)"),
    "channels_last_pool": ("", "F.max_pool2d(x, 3, 2, 1)", "randn(2, 6, 9, 10).to(memory_format=torch.channels_last)"),
    "half_turned": ("", "x.t().contiguous()", "randn(50, 40).half()"),
    "joined": ("", "torch.cat([x, y * 2, x[:, :3]], 1)", "randn(4, 7), randn(4, 9)"),
    "padded": ("", "F.pad(x, (1, 2, 3, 0), value=0.5) * 3", "randn(5, 6)"),
    "half_add": ("", "x * 2 + y", "randn(40, 16).half(), randn(40, 16).half()"),
    "bfloat_silu": ("", "F.silu(x)", "randn(40, 16).bfloat16()"),
    "whole_numbers": ("", "x * 3 + y", "torch.arange(60).reshape(6, 10), torch.arange(10)"),
    "two_outputs": ("", "(x + 1, torch.relu(x))", "randn(33)"),
    # rows, columns, all of it
    "softmax": ("", "torch.softmax(x, 1)", "randn(9, 1003)"),
    "softmax_even": ("", "torch.softmax(x, 1)", "randn(16, 1024)"),
    "softmax_short": ("", "torch.softmax(x, 1)", "randn(70, 96)"),
    "softmax_middle": ("", "torch.softmax(x, 1)", "randn(3, 40, 36)"),
    "log_softmax": ("", "torch.log_softmax(x * 3, -1)", "randn(20, 260)"),
    "causal_softmax": ("", "torch.softmax(x.masked_fill(torch.ones(24, 24).triu(1).bool(), float('-inf')), -1)", "randn(4, 24, 24)"),
    "layer_norm": ("self.n = nn.LayerNorm(768)", "self.n(x)", "randn(3, 5, 768)"),
    "residual_norm": ("self.n = nn.LayerNorm(200)", "self.n(x + y) * 2", "randn(30, 200), randn(30, 200)"),
    "rms_norm": ("self.n = nn.RMSNorm(132)", "self.n(x)", "randn(40, 132)"),
    "group_norm": ("self.n = nn.GroupNorm(4, 16)", "self.n(x)", "randn(3, 16, 6, 7)"),
    "instance_norm": ("self.n = nn.InstanceNorm2d(5)", "self.n(x)", "randn(3, 5, 9, 12)"),
    "batch_norm": ("self.n = nn.BatchNorm2d(6).eval()", "self.n(x)", "randn(3, 6, 5, 7)"),
    "row_sums": ("", "(x * x).sum(-1)", "randn(50, 300)"),
    "middle_mean": ("", "x.mean(1)", "randn(6, 40, 33)"),
    "first_max": ("", "x.amax(0)", "randn(70, 45)"),
    "row_product": ("", "x.prod(-1)", "randn(20, 30)"),
    "log_sum_exp": ("", "torch.logsumexp(x, -1)", "randn(12, 513)"),
    "whole_sum": ("", "x.sum()", "randn(300, 301)"),
    "long_softmax": ("", "torch.softmax(x, 1)", "randn(2, 20000)"),
    "column_sums": ("", "(x * x).sum(0)", "randn(1500, 70)"),
    "column_max": ("", "x.amax(1) + 1", "randn(2, 700, 33)"),
    "frobenius": ("", "x / torch.norm(x)", "randn(200, 301)"),
    "mse": ("", "F.mse_loss(x, y)", "randn(128, 129), randn(128, 129)"),
    "cross_entropy": ("", "F.cross_entropy(x, y)", "randn(64, 50), torch.arange(64) % 50"),
    "unit_rows": ("", "F.normalize(x, dim=-1)", "randn(12, 260)"),
    # products
    "matmul": ("", "x @ y", "randn(70, 50), randn(50, 90)"),
    "matmul_even": ("", "x @ y", "randn(128, 64), randn(64, 128)"),
    "matmul_long": ("", "x @ y", "randn(32, 1024), randn(1024, 64)"),
    "left_turned": ("", "x.t() @ y", "randn(64, 96), randn(64, 80)"),
    "right_turned": ("", "x @ y.t()", "randn(72, 64), randn(136, 64)"),
    "batched": ("", "x @ y", "randn(3, 40, 36), randn(3, 36, 68)"),
    "linear_gelu": ("self.l = nn.Linear(64, 132)", "F.gelu(self.l(x))", "randn(4, 33, 64)"),
    "scaled_linear": ("self.l = nn.Linear(48, 64)", "self.l(torch.relu(x) * 0.5) + x.sum(-1, keepdim=True)", "randn(40, 48)"),
    "matvec": ("", "x @ y", "randn(90, 300), randn(300)"),
    "half_matmul": ("", "x @ y", "(randn(128, 64) / 8).half(), randn(64, 128).half()"),
    "bfloat_linear": ("self.l = nn.Linear(64, 80).bfloat16()", "torch.relu(self.l(x))", "randn(50, 64).bfloat16()"),
    "half_left_turned": ("", "x.t() @ y", "(randn(64, 96) / 8).half(), randn(64, 80).half()"),
    "half_right_turned": ("", "x @ y.t()", "(randn(72, 64) / 8).half(), randn(136, 64).half()"),
    "half_long": ("", "x @ y", "(randn(40, 1024) / 32).half(), randn(1024, 72).half()"),
    "half_odd": ("", "F.gelu(x @ y)", "(randn(37, 51) / 7).half(), randn(51, 45).half()"),
    "bfloat_batched": ("", "x @ y", "(randn(3, 40, 48) / 8).bfloat16(), randn(3, 48, 72).bfloat16()"),
    "attention": ("", "torch.softmax(x @ y.transpose(1, 2) * 0.2, -1) @ z", "randn(2, 40, 24), randn(2, 40, 24), randn(2, 40, 24)"),
    "triangular": ("", "torch.tril(torch.tril(x) @ torch.tril(y))", "randn(48, 48), randn(48, 48)"),
    # what has one thread an element
    "running_sum": ("", "torch.cumsum(x, 1)", "randn(12, 70)"),
    "running_product": ("", "torch.cumprod(x, 0)", "rand(20, 14) + 0.5"),
    "max_pool": ("", "F.max_pool2d(x, 3, 2, 1)", "randn(2, 3, 13, 12)"),
    "average_pool": ("", "F.avg_pool1d(x, 4, 2, 1)", "randn(2, 5, 30)"),
    "positions": ("", "x.argmax(1)", "randn(30, 44)"),
    "position_and_least": ("", "torch.min(x, 0)", "randn(30, 44)"),
    "embedding": ("self.e = nn.Embedding(20, 12)", "self.e(x)", "torch.arange(15).reshape(3, 5)"),
    "gathered": ("", "torch.gather(x, 1, y)", "randn(6, 9), torch.arange(24).reshape(6, 4) % 9"),
    "top_two": ("", "torch.topk(x, 2)", "randn(20, 17)"),
}


def problem_text(name):
    init, forward, inputs = CASES[name]
    count = inputs.count("randn(") + inputs.count("torch.arange(") + (inputs.startswith("rand(") and 1)
    names = ", ".join("xyz"[:count])
    return f"""import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import rand, randn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        {init or 'pass'}

    def forward(self, {names}):
        return {forward}


def get_inputs():
    return [{inputs}]


def get_init_inputs():
    return []
"""
