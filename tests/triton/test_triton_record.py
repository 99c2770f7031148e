"""launch() of a kernel's module, recorded: what it launches is written down; what it may not do is refused with the line."""

import json

import pytest

HEAD = """import torch
import triton
import triton.language as tl

# kw:knob BLOCK 128 256
BLOCK = 128


@triton.jit
def twice(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


"""
LAUNCH = "twice[(triton.cdiv(x.numel(), BLOCK),)](x, out, x.numel(), BLOCK=BLOCK)"


def spec(knobs=None, shape=(20, 50), dsl="triton"):
    count = shape[0] * shape[1]
    tensor = lambda name: {"name": name, "dtype": "float32", "kind": "tensor", "shape": list(shape), "strides": [shape[1], 1],  # noqa: E731
                           "span": count, "value": 0}
    return {"dsl": dsl, "gpu": "a100", "capability": 80, "knobs": knobs or {}, "declaration": "def launch(x, out):",
            "arguments": [tensor("x"), tensor("out")]}


def recorded(folder, text, **options):
    from kernelwright_record.__main__ import record

    (folder / "kernel.py").write_text(text, encoding="utf-8")
    return json.loads(json.dumps(record(spec(**options), str(folder))))


def test_a_launch_is_written_down(tmp_path):
    seen = recorded(tmp_path, HEAD + f"def launch(x, out):\n    {LAUNCH}\n")
    step, = seen["steps"]
    assert step["grid"] == [8, 1, 1] and step["block"] == [128, 1, 1]
    assert step["arguments"][:2] == [{"argument": 0, "offset": 0}, {"argument": 1, "offset": 0}]
    assert step["arguments"][2] == {"bytes": (1000).to_bytes(4, "little").hex()}
    assert ".entry twice" in (tmp_path / "module0.ptx").read_text(encoding="utf-8")
    assert seen["facts"]["twice"]["registers"] > 0


def test_a_knob_sets_a_constant_of_the_module(tmp_path):
    seen = recorded(tmp_path, HEAD + f"def launch(x, out):\n    {LAUNCH}\n", knobs={"BLOCK": "256"})
    assert seen["steps"][0]["grid"] == [4, 1, 1]
    refused = recorded(tmp_path, HEAD + f"def launch(x, out):\n    {LAUNCH}\n", knobs={"TILE": "2"})["refused"]
    assert "no constant 'TILE'" in refused["message"]


def test_memory_views_and_zeros(tmp_path):
    body = """def launch(x, out):
    middle = torch.empty_like(x)
    sums = torch.zeros(8, dtype=torch.float32)
    twice[(8,)](x, middle, 1000, BLOCK=BLOCK)
    twice[(1,)](middle.view(-1)[128:256], out[2:], 128, BLOCK=128)
"""
    seen = recorded(tmp_path, HEAD + body)
    assert seen["memories"] == [4000, 32]
    fill, first, second = seen["steps"]
    assert fill == {"do": "fill", "memory": 1, "offset": 0, "bytes": 32, "byte": 0}
    assert first["arguments"][1] == {"memory": 0, "offset": 0}
    assert second["arguments"][:2] == [{"memory": 0, "offset": 512}, {"argument": 1, "offset": 400}]
    assert len(seen["modules"]) == 2 and len({module["kernel"] for module in seen["modules"]}) == 2


def test_autotuning_chooses_by_an_estimate(tmp_path):
    body = HEAD.replace("@triton.jit\n", "@triton.autotune([triton.Config({'BLOCK': 128}), triton.Config({'BLOCK': 256})], key=['n'])\n@triton.jit\n")
    seen = recorded(tmp_path, body + "def launch(x, out):\n    twice[lambda meta: (triton.cdiv(1000, meta['BLOCK']),)](x, out, 1000)\n")
    assert len(seen["steps"]) == 1 and seen["steps"][0]["grid"] in ([8, 1, 1], [4, 1, 1])


@pytest.mark.parametrize(("body", "said", "verdict"), [
    ("out.copy_(x * 2)", "aten.mul.Tensor", "forbidden"),
    ("torch.relu(x)", "aten.relu.default", "forbidden"),
    ("y = x.t().contiguous()", "aten.clone.default", "forbidden"),
    ("n = int(x[0, 0].item())", "reads values of 'x'", "forbidden"),
    ("n = x.tolist()", "reads values of 'x'", "forbidden"),
    ("n = x.numpy()", "reads values of 'x'", "forbidden"),
    ("n = 1 if x[0, 0] > 0 else 2", "aten.gt.Scalar", "forbidden"),
    ("y = torch.full((4,), 1.5)", "fills a tensor with 1.5", "forbidden"),
    ("twice[(8,)](torch.nn.Parameter(x), out, 1000, BLOCK=100)", "", "compile_failed"),
    ("pass", "launches no kernel", "compile_failed"),
])
def test_what_is_refused_and_where(tmp_path, body, said, verdict):
    text = HEAD + f"def launch(x, out):\n    {body}\n"
    refused = recorded(tmp_path, text)["refused"]
    assert said in refused["message"] and refused["verdict"] == verdict
    if body != "pass" and verdict == "forbidden":
        assert refused["line"] == text.count("\n") and refused["hint"]


def test_a_tensor_of_the_module_is_no_argument(tmp_path):
    refused = recorded(tmp_path, HEAD + "ANSWERS = torch.ones(1000)\n\ndef launch(x, out):\n    twice[(8,)](ANSWERS, out, 1000, BLOCK=128)\n")["refused"]
    assert "'x' is no tensor of the problem" in refused["message"] and refused["verdict"] == "forbidden"


def test_errors_have_the_users_line(tmp_path):
    wrong = HEAD.replace("2 * tl.load", "tl.nothing * tl.load")
    refused = recorded(tmp_path, wrong + f"def launch(x, out):\n    {LAUNCH}\n")["refused"]
    assert "nothing" in refused["message"]
    assert wrong.splitlines()[refused["line"] - 1].strip().startswith("tl.store")
    refused = recorded(tmp_path, "import triton\n\ndef launch(x:\n")["refused"]
    assert refused["line"] == 3
    refused = recorded(tmp_path, HEAD + "def launch(x):\n    pass\n")["refused"]
    assert "does not take the problem's arguments" in refused["message"] and "def launch(x, out):" in refused["hint"]
    refused = recorded(tmp_path, HEAD)["refused"]
    assert "no function launch" in refused["message"]
