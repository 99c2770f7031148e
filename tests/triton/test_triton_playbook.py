"""Kernels that the playbook writes in Triton, over the cases of tests/cuda: right on the virtual GPU with all checks, and found to do what
they claim."""

import json
import pathlib
import sys
import types

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cuda"))

from playbook import Problems, asked, written  # noqa: E402
from playbook_cases import CASES  # noqa: E402

PLAIN = []
ROWS = ["fuse_kernels", "fuse_row_kernel", "coalesce_rows", "warp_reduce", "launch_shape"]
ALL = ROWS + ["keep_row_registers", "vector_load", "unroll_items", "transpose_tile", "shared_tile", "fuse_tile_epilogue",
              "fuse_tile_prologue", "async_copy", "multistage"]
FORMS = {"plain": PLAIN, "rows": ROWS, "all": ALL}
# Sorted by hand to be quick: each has something that no other has.
SAMPLE = ["broadcast_chain", "channels_last", "activations", "transposed_sum", "joined", "padded", "half_add", "two_outputs", "softmax", "layer_norm",
          "first_max", "row_product", "long_softmax"]


@pytest.fixture(scope="module")
def problems(tmp_path_factory):
    return Problems(tmp_path_factory.mktemp("problems"))


def run(trial, folder):
    """The kernel's launch() over the trial's inputs; gives the PTX of what it launched."""
    import torch
    from kernelwright_triton.library import Kernel

    path = folder / f"{trial.entry}.py"
    path.write_text(trial.kernel["source"], encoding="utf-8")
    module = types.ModuleType(trial.entry)
    module.__file__ = str(path)
    exec(compile(trial.kernel["source"], str(path), "exec"), module.__dict__)
    trial.outputs = [torch.full_like(each, float("nan")) if each.is_floating_point() else torch.zeros_like(each)
                     for each in trial.eager]
    seen = []
    launch = Kernel.launch
    Kernel.launch = lambda self, *args: (seen.append(self.ptx), launch(self, *args))[1]
    try:
        module.launch(*trial.inputs, *trial.outputs)
    finally:
        Kernel.launch = launch
    return "\n".join(seen)


def check(problems, name, form, folder):
    trial, = written(problems, [(f"{name}_{form}", name, FORMS[form], {"dsl": "triton"})])
    ptx = run(trial, folder)
    error, noise = trial.error()
    half = any(str(each.dtype) in ("torch.float16", "torch.bfloat16") for each in trial.eager)
    assert error <= max(4 * noise, 1e-2 if half else 2e-6), f"{trial.name}: {error:.3g}, eager {noise:.3g}\n{trial.kernel['source']}"
    claims = trial.kernel["claims"]
    presence = json.loads(asked([json.dumps({"source": trial.kernel["source"], "ptx": ptx, "claims": claims})])[0])
    assert "struck" not in presence.values(), f"{trial.name}: {presence}\n{trial.kernel['source']}"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", SAMPLE)
def test_a_kernel_is_right_and_does_what_it_claims(problems, name, form, tmp_path):
    check(problems, name, form, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", [name for name in CASES if name not in SAMPLE])
def test_every_family(problems, name, form, tmp_path):
    check(problems, name, form, tmp_path)
