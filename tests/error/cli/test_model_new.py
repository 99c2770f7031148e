"""Python files that are no ModelNew, or a wrong one: the command says what and where."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from cli import BAD_INPUT, NOT_PASSED, assert_refused  # noqa: E402
from cli import kw, shared_cache  # noqa: E402, F401: fixtures

HEAD = "import torch\nimport torch.nn as nn\n\n\nclass ModelNew(nn.Module):\n"


def verify(kw, tmp_path, text, problem="linear_relu", *words):  # noqa: F811
    file = tmp_path / "new.py"
    file.write_text(text)
    return kw("verify", f"problems/{problem}.py", file, *words)


def test_a_file_without_model_new_is_refused_at_once(kw, tmp_path):  # noqa: F811
    assert_refused(verify(kw, tmp_path, "import torch\nclass Model(torch.nn.Module): pass\n"), "has no class ModelNew")


def test_allow_torch_is_for_python(kw, tmp_path):  # noqa: F811
    kernel = tmp_path / "k.cpp"
    kernel.write_text("int x;\n")
    assert_refused(kw("verify", "problems/scale_relu.py", kernel, "--allow-torch"), "--allow-torch goes with a Python file", status=BAD_INPUT)


@pytest.mark.parametrize(("text", "says"), [
    (HEAD + "    def forward(self, x)\n        return x\n", ["compile_failed", "syntax error", "new.py:6"]),
    (HEAD + "    def forward(self, x):\n        return x\n", ["crashed", "ModelNew(256, 192) raised TypeError"]),
    ("import torch\nModelNew = 3\n", ["compile_failed", "no class ModelNew"]),
    (HEAD + "    def __init__(self, a, b):\n        super().__init__()\n\n    def forward(self, x):\n        return x.missing\n",
     ["crashed", "forward() raised AttributeError", "new.py:10"]),
    (HEAD + "    def __init__(self, a, b):\n        super().__init__()\n\n    def forward(self, x):\n        return x\n",
     ["wrong", "float32[64, 256] and not float32[64, 192]"]),
])
def test_what_is_wrong_is_named_with_its_line(kw, tmp_path, text, says):  # noqa: F811
    done = verify(kw, tmp_path, text)
    assert done.status == NOT_PASSED, done
    for each in says:
        assert each in done.out, done


def test_inline_cuda_is_refused_with_what_to_do(kw, tmp_path):  # noqa: F811
    text = ("import torch\nfrom torch.utils.cpp_extension import load_inline\n"
            "load_inline(name='k', cpp_sources=[''], cuda_sources=['__global__ void k() {}'])\n" + HEAD + "    pass\n")
    done = verify(kw, tmp_path, text, "scale_relu")
    assert done.status == NOT_PASSED and "forbidden" in done.out and "--dsl cuda-c" in done.out, done
