"""Every family of the playbook on numbers of 16 bits: name -> (what __init__ makes, what forward() returns of x, y and others, the inputs).
Modules and inputs are converted as users do it, by .to(); what is of whole numbers stays that."""

import re

FAMILIES = {
    "pointwise": ("", "F.gelu(x) * torch.sigmoid(y) + F.silu(x) - 0.5", "randn(12, 40), randn(12, 40)"),
    "movement": ("", "torch.cat([F.pad(x, (1, 2)), y.t()], 0)[1:]", "randn(5, 9), randn(12, 7)"),
    "reductions": ("", "(x * x).sum(-1) + x.mean(-1) + x.amax(-1) - torch.logsumexp(x, -1)", "randn(9, 132)"),
    "columns": ("", "x.sum(0) + x.amin(0)", "randn(40, 36)"),
    "whole": ("", "x.square().mean().sqrt()", "randn(50, 64)"),
    "softmax": ("", "torch.softmax(x * 2, 1) + torch.log_softmax(x, 1) * 0.01", "randn(9, 260)"),
    "layer_norm": ("self.n = nn.LayerNorm(136)", "self.n(x)", "randn(6, 136) + 3"),
    "rms_norm": ("self.n = nn.RMSNorm(136)", "self.n(x) + x", "randn(6, 136)"),
    "small_rms_norm": ("self.n = nn.RMSNorm(136)", "self.n(x)", "randn(6, 136) / 50"),
    "batch_norm": ("self.n = nn.BatchNorm2d(6).eval()", "torch.relu(self.n(x))", "randn(2, 6, 5, 8)"),
    "group_norm": ("self.n = nn.GroupNorm(2, 8)", "self.n(x)", "randn(2, 8, 6, 6) + 2"),
    "matmul": ("", "x @ y", "randn(32, 64) / 8, randn(64, 48)"),
    "batched": ("", "x @ y.transpose(1, 2)", "randn(2, 20, 24) / 5, randn(2, 28, 24)"),
    "linear": ("self.l = nn.Linear(64, 48)", "F.gelu(self.l(x)) * 0.5", "randn(3, 11, 64)"),
    "two_layers": ("self.a = nn.Linear(48, 64); self.b = nn.Linear(64, 32)", "self.b(torch.relu(self.a(x)))", "randn(32, 48)"),
    "matvec": ("", "x @ y", "randn(40, 96) / 10, randn(96)"),
    "convolution": ("self.c = nn.Conv2d(8, 12, 3, padding=1)", "torch.relu(self.c(x))", "randn(2, 8, 10, 10)"),
    "depthwise": ("self.c = nn.Conv1d(6, 6, 3, stride=2, groups=6)", "self.c(x)", "randn(2, 6, 21)"),
    "turned_convolution": ("self.c = nn.ConvTranspose2d(4, 3, 2, stride=2)", "self.c(x)", "randn(2, 4, 5, 5)"),
    "attention": ("", "F.scaled_dot_product_attention(x, y, z)", "randn(1, 2, 24, 32), randn(1, 2, 24, 32), randn(1, 2, 24, 32)"),
    "causal_attention": ("", "F.scaled_dot_product_attention(x, y, z, is_causal=True)", "randn(2, 24, 16), randn(2, 24, 16), randn(2, 24, 16)"),
    "written_attention": ("", "torch.softmax(x @ y.transpose(1, 2) * 0.25, -1) @ z", "randn(2, 24, 16), randn(2, 24, 16), randn(2, 24, 16)"),
    "pooling": ("", "F.max_pool2d(x, 3, 2, 1) + F.avg_pool2d(x, 3, 2, 1)", "randn(2, 3, 11, 12)"),
    "mse": ("", "F.mse_loss(x, y)", "randn(32, 33), randn(32, 33)"),
    "cross_entropy": ("", "F.cross_entropy(x, y)", "randn(20, 30), torch.arange(20) % 30"),
    "running_sum": ("", "torch.cumsum(x, 1)", "randn(6, 70) / 4"),
    "embedding": ("self.e = nn.Embedding(20, 12)", "self.e(x) * 2", "torch.arange(15).reshape(3, 5)"),
    "rounded_inside": ("", "(x.float() * 3).to(x.dtype) @ y + x[:, :16].float().exp().to(x.dtype)", "randn(16, 32) / 6, randn(32, 16)"),
}
TYPES = ("float16", "bfloat16")
_NAMES = ("x", "y", "z")


def half_problem(names, dtype):
    """One module with a result for each family."""
    init, returned, inputs, parameters = [], [], [], []
    for number, name in enumerate(names):
        made, forward, given = FAMILIES[name]
        given = re.split(r", (?=randn|torch)", given)
        own = dict(zip(_NAMES, (f"{each}{number}" for each in _NAMES)))
        parameters += [own[each] for each in _NAMES[:len(given)]]
        inputs += [each if each.startswith("torch.arange") else f"({each}).to(torch.{dtype})" for each in given]
        made = re.sub(r"self\.(\w)\b", rf"self.\g<1>{number}", made)
        forward = re.sub(r"self\.(\w)\b", rf"self.\g<1>{number}", forward)
        returned.append(re.sub(r"\b([xyz])\b", lambda found: own[found[1]], forward))
        init.append(made or "pass")
    return "\n".join([
        "import torch", "import torch.nn as nn", "import torch.nn.functional as F", "from torch import randn", "", "",
        "class Model(nn.Module):", "    def __init__(self):", "        super().__init__()", *(f"        {each}" for each in init),
        f"        self.to(torch.{dtype})", "", f"    def forward(self, {', '.join(parameters)}):",
        *(f"        r{number} = {each}" for number, each in enumerate(returned)),
        f"        return {', '.join(f'r{number}' for number in range(len(names)))}", "", "",
        "def get_inputs():", f"    return [{', '.join(inputs)}]", "", "", "def get_init_inputs():", "    return []", ""])
