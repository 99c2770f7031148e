"""Quantised weights in every language: the kernel reads the bytes, and the result is PyTorch's of the floats that they stand for."""

import re

import pytest
from test_halves import KERNELS, LANGUAGES, PASSED, Problems, kw, shared_cache, written  # noqa: F401: fixtures

pytestmark = pytest.mark.skipif(not KERNELS.is_file(), reason="gpu_kernels was not built")

# name -> (weights and scales, what forward() returns, the inputs)
CASES = {
    "by_row": ("w = int8(48, 64); s = scale(48, 1)", "F.linear(x, self.w.float() * self.s)", "randn(20, 64)"),
    "by_tensor": ("w = int8(48, 64); s = scale(1)", "torch.relu(F.linear(x, self.w.float() * self.s))", "randn(20, 64)"),
    "zero_points": ("w = uint8(48, 64); s = scale(48, 1); z = uint8(48, 1)", "F.linear(x, (self.w.float() - self.z.float()) * self.s)",
                    "randn(20, 64)"),
    "whole_differences": ("w = int8(48, 64); s = scale(48, 1); z = int8(48, 1)",
                          "F.linear(x, (self.w.to(torch.int16) - self.z.to(torch.int16)).float() * self.s)", "randn(20, 64)"),
    "wrapped_differences": ("w = int8(48, 64); s = scale(48, 1); z = int8(48, 1)", "F.linear(x, (self.w - self.z).float() * self.s)",
                            "randn(20, 64)"),
    "wrapped_bytes": ("w = uint8(48, 64); s = scale(48, 1); z = uint8(48, 1)", "F.linear(x, (self.w - self.z).float() * self.s)",
                      "randn(20, 64)"),
    "by_group": ("w = int8(48, 128); s = scale(48, 4, 1)",
                 "F.linear(x, (self.w.reshape(48, 4, 32).float() * self.s).reshape(48, 128))", "randn(20, 128)"),
    "short_groups": ("w = int8(48, 60); s = scale(48, 5, 1)",
                     "F.linear(x, (self.w.reshape(48, 5, 12).float() * self.s).reshape(48, 60))", "randn(20, 60)"),
    "scaled_behind": ("w = int8(48, 64); s = scale(48)", "F.linear(x, self.w.float()) * self.s", "randn(20, 64)"),
    "along_columns": ("w = int8(64, 48); s = scale(48)", "x @ (self.w.float() * self.s)", "randn(20, 64)"),
    "one_row": ("w = int8(96, 128); s = scale(96, 1)", "F.linear(x, self.w.float() * self.s)", "randn(1, 128)"),
    "one_row_by_group": ("w = uint8(96, 128); s = scale(96, 2, 1)",
                         "F.linear(x, ((self.w.reshape(96, 2, 64).float() - 128) * self.s).reshape(96, 128))", "randn(1, 128)"),
    "convolution": ("w = int8(12, 8, 3, 3); s = scale(12, 1, 1, 1)", "F.conv2d(x, self.w.float() * self.s, padding=1)", "randn(2, 8, 9, 9)"),
    "many_channels": ("w = uint8(20, 32, 3, 3); s = scale(20, 1, 1, 1)", "F.conv2d(x, (self.w.float() - 128.0) * self.s, stride=2)",
                      "randn(2, 32, 9, 9)"),
    "pointwise_convolution": ("w = uint8(24, 16, 1, 1); s = scale(1)", "F.conv2d(x, (self.w.float() - 128.0) * self.s)", "randn(2, 16, 6, 6)"),
    "turned_convolution": ("w = int8(6, 4, 2, 2)", "F.conv_transpose2d(x, self.w.float() * 0.01, stride=2)", "randn(2, 6, 5, 5)"),
    "grouped_convolution": ("w = int8(8, 3, 3); s = scale(8, 1, 1)", "F.conv1d(x, self.w.float() * self.s, groups=2)", "randn(2, 6, 21)"),
    "halves": ("w = half(48, 64)", "F.linear(x, self.w.float())", "randn(20, 64)"),
    "half_inputs": ("w = int8(48, 64); s = scale(48, 1)", "F.linear(x, self.w.to(torch.bfloat16) * self.s.to(torch.bfloat16))",
                    "randn(20, 64).to(torch.bfloat16)"),
}
_MADE = {"int8": "torch.randint(-127, 128, ({}), dtype=torch.int8)", "uint8": "torch.randint(0, 256, ({}), dtype=torch.uint8)",
         "scale": "torch.rand({}) * 0.02 + 0.001", "half": "torch.randn({}).half()"}


def problem_text(names):
    """One module with a result for each case."""
    init, returned, parameters, inputs = [], [], [], []
    for number, name in enumerate(names):
        weights, forward, given = CASES[name]
        for each in weights.split("; "):
            own, made = each.split(" = ")
            kind, size = made.rstrip(")").split("(")
            init.append(f"self.register_buffer('{own}{number}', {_MADE[kind].format(size + (',' if kind != 'scale' and kind != 'half' else ''))})")
            forward = re.sub(rf"self\.{own}\b", f"self.{own}{number}", forward)
        returned.append(forward.replace("(x,", f"(x{number},").replace("x @", f"x{number} @"))
        parameters.append(f"x{number}")
        inputs.append(given)
    return "\n".join([
        "import torch", "import torch.nn as nn", "import torch.nn.functional as F", "from torch import randn", "", "",
        "class Model(nn.Module):", "    def __init__(self):", "        super().__init__()", *(f"        {each}" for each in init), "",
        f"    def forward(self, {', '.join(parameters)}):", *(f"        r{number} = {each}" for number, each in enumerate(returned)),
        f"        return {', '.join(f'r{number}' for number in range(len(names)))}", "", "",
        "def get_inputs():", f"    return [{', '.join(inputs)}]", "", "", "def get_init_inputs():", "    return []", ""])


@pytest.fixture(scope="module")
def problems(tmp_path_factory):
    return Problems(tmp_path_factory.mktemp("problems"))


@pytest.mark.parametrize("form", [pytest.param("plain", marks=pytest.mark.slow), "all"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_quantised_weights_are_right_in_every_language(problems, kw, tmp_path, language, form):  # noqa: F811
    here, ending, strategies = LANGUAGES[language]
    if not here():
        pytest.skip(f"{language} is not here")
    problems.of("quantised", problem_text(CASES))
    trial, = written(problems, [(f"{language}_{form}", "quantised", strategies if form == "all" else [], {"dsl": language})])
    file = tmp_path / f"kernel.{ending}"
    file.write_text(trial.kernel["source"], encoding="utf-8")
    run = kw("verify", problems.folder / "quantised.py", file, *(["--dsl", "cute"] if language == "cute" else []))
    assert run.status == PASSED, f"{run}\n{trial.kernel['source']}"


# What has no form in vectors is made floats once: groups of twelve.
@pytest.mark.parametrize("name", [name for name in CASES if name != "short_groups"])
def test_a_cpp_kernel_has_no_copy_in_floats(problems, name):
    problems.of(name, problem_text([name]))
    trial, = written(problems, [(name, name, LANGUAGES["cpp"][2], {"dsl": "cpp"})])
    assert "kw_prepare" not in trial.kernel["source"], trial.kernel["source"]
