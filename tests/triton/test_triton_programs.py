"""Triton programs as users write them: right by PyTorch, and the same as in Triton's interpreter. All checks are on: no finding."""

import os
import pathlib
import subprocess
import sys

import triton_cases as cases
import triton_programs as programs
import pytest
import torch
import triton

HERE = pathlib.Path(__file__).resolve().parent
FAST = {("vector_add", cases.HALF), ("softmax", cases.FLOAT), ("matmul", cases.HALF), ("layer_norm", cases.FLOAT)}
ALL = [pytest.param(case, dtype, id=f"{case.__name__}-{str(dtype)[6:]}",
                    marks=[] if (case.__name__, dtype) in FAST else pytest.mark.slow)
       for case in cases.CASES for dtype in (cases.FLOAT, cases.HALF)]


@pytest.mark.parametrize("case, dtype", ALL)
def test_program_is_right_by_pytorch(case, dtype):
    got, expected = case(dtype)
    cases.check(case.__name__, dtype, got, expected)


def test_histogram_is_exact():
    got, expected = cases.integers()
    assert torch.equal(got, expected)


@pytest.fixture(scope="session")
def interpreted(tmp_path_factory):
    """The answers of Triton's interpreter, from a process of its own: it has to be chosen before kernels are defined."""
    file = tmp_path_factory.mktemp("interpreter") / "answers.pt"
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    subprocess.run([sys.executable, str(HERE / "triton_cases.py"), str(file)], env=environment, check=True, timeout=1200)
    return torch.load(file)


@pytest.mark.slow
@pytest.mark.parametrize("case", cases.CASES, ids=lambda case: case.__name__)
@pytest.mark.parametrize("dtype", (cases.FLOAT, cases.HALF), ids=lambda dtype: str(dtype)[6:])
def test_program_agrees_with_the_interpreter(case, dtype, interpreted):
    cases.check(case.__name__, dtype, case(dtype)[0], interpreted[f"{case.__name__} {dtype}"])


@pytest.mark.slow
def test_histogram_agrees_with_the_interpreter(interpreted):
    assert torch.equal(cases.integers()[0], interpreted["histogram"])


def test_autotuning_chooses_by_an_estimate_that_repeats():
    kernel = programs.tuned_scale_kernel
    x = torch.arange(3000, dtype=torch.float32)
    chosen = []
    for _ in range(2):
        kernel.cache.clear()
        out, calls = programs.tuned_scale(x, 2.0)
        assert torch.equal(out, 2 * x)
        chosen.append((str(kernel.best_config), sorted(map(tuple, kernel.configs_timings.values()))))
        # The trials' calls were taken back: reset_to_zero.
        assert calls.item() == triton.cdiv(3000, kernel.best_config.kwargs["BLOCK"])
    assert chosen[0] == chosen[1]
    assert all(len(set(times)) == 1 and 1e-4 < times[0] < 1 for times in chosen[0][1]), chosen  # milliseconds


@pytest.mark.slow
@pytest.mark.parametrize("gpu, block", [("t4", (32, 32, 32)), ("rtx4090", (64, 64, 32)), ("h100", (64, 64, 32))])
def test_matmul_compiled_for_another_gpu(gpu, block):
    import kernelwright_triton

    kernelwright_triton.activate(gpu=gpu)
    a, b = cases.random(96, 80, dtype=cases.HALF) / 8, cases.random(80, 72, dtype=cases.HALF, seed=1)
    cases.check(gpu, cases.HALF, programs.matmul(a, b, block=block), torch.matmul(a.float(), b.float()))


@pytest.mark.slow
@pytest.mark.parametrize("precision, allowed", [("tf32", 2e-3), ("tf32x3", 1e-5), ("ieee", 1e-6)])
def test_float32_product_in_the_precision_that_was_asked_for(precision, allowed):
    a, b = cases.random(64, 128) / 8, cases.random(128, 64, seed=1)
    exact = a.double() @ b.double()
    off = (programs.matmul(a, b, precision=precision).double() - exact).abs().max() / exact.abs().max()
    assert off < allowed, off
