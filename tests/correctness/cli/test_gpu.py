"""Kernels in CUDA on a machine with a GPU: the virtual one's runtime stands in for NVIDIA's, and the processor for PyTorch's GPU.
Its times mean nothing; that they are taken, compared, checked and told as what they are is tested."""

import pathlib
import shutil
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "cuda"))

from cli import BINARY, NOT_PASSED, PASSED, Kernelwright, problem_text  # noqa: E402
from cli import kw, shared_cache  # noqa: E402, F401: fixtures
from nvidia import find_nvcc  # noqa: E402

pytestmark = pytest.mark.skipif(find_nvcc() is None, reason="there is no nvcc")

STAND_IN = {"KERNELWRIGHT_CUDART": BINARY.parents[1] / "lib" / "libkw_cudart.so", "KERNELWRIGHT_TORCH_DEVICE": "cpu"}
GPU = "NVIDIA A100-SXM4-80GB (virtual)"
QUICK = ("--baseline", "eager", "--time", "0.5")

KERNEL = """
#include "problem.h"
__global__ void twice(const float* x, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < x_numel) out[i] = 2 * x[i];
}
static int calls = 0;
extern "C" void kw_kernel(const float* x, float* out, cudaStream_t stream) {
  if (++calls > MOST_CALLS) return;
  twice<<<(x_numel + 127) / 128, 128, 0, stream>>>(x, out);
}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "twice.py").write_text(problem_text())
    (tmp_path / "twice.cu").write_text(KERNEL.replace("MOST_CALLS", "1000000000"))
    (tmp_path / "lazy.cu").write_text(KERNEL.replace("MOST_CALLS", "14"))
    return tmp_path


def test_a_kernel_is_timed_beside_pytorch(kw, folder):  # noqa: F811
    run = kw("measure", folder / "twice.py", folder / "twice.cu", *QUICK, "--json", **STAND_IN)
    assert run.status == PASSED, run
    timing = run.json["timing"]
    assert timing["gpu"] == GPU
    (eager,) = timing["comparisons"]
    assert eager["baseline"] == "eager" and eager["pairs"] >= 6 and eager["baseline_seconds"] > 0
    assert 0 < eager["interval"]["low"] <= eager["speedup"] <= eager["interval"]["high"]
    assert any("outputs of" in note and "were checked" in note for note in timing["notes"])
    assert run.json["estimate"]["seconds"] > 0, "counters and estimate stay beside it"
    again = kw("measure", folder / "twice.py", folder / "twice.cu", *QUICK, **STAND_IN)
    assert f"measured on {GPU}" in again.out and "archived" in again.out, again

    # Without the GPU, and for another one, there is the estimate alone; what was timed is not found again.
    for settings, words, note in (({}, (), False), (STAND_IN, ("--machine", "h100"), True)):
        other = kw("measure", folder / "twice.py", folder / "twice.cu", *QUICK, *words, "--json", **settings)
        assert other.status == PASSED and other.json["timing"] is None and other.json["estimate"]["seconds"] > 0, other
        assert any(GPU in each for each in other.json["estimate"]["notes"]) == note, other


def test_timed_calls_are_checked(kw, folder):  # noqa: F811
    """It does its work as often as a verification asks, and no more."""
    assert kw("verify", folder / "twice.py", folder / "lazy.cu", **STAND_IN).status == PASSED
    run = kw("measure", folder / "twice.py", folder / "lazy.cu", *QUICK, "--json", **STAND_IN)
    assert run.status == NOT_PASSED and run.json["verdict"]["verdict"] in ("wrong", "mistrusted"), run
    assert run.json["timing"] is None


def test_optimize_selects_by_timings(kw, folder):  # noqa: F811
    run = kw("optimize", folder / "twice.py", "--dsl", "cuda-c", "--evaluations", "1", "--time", "2m", "--baseline",
             "eager", "--out", folder / "best.cu", "--json", **STAND_IN)
    assert run.status == PASSED, run
    record = run.json["run"]
    assert record["options"]["timed_on"] == GPU
    assert record["confirmed"]["gpu"] == GPU and record["confirmed"]["comparisons"][0]["baseline"] == "eager"
    (tried,) = run.json["individuals"]
    assert tried["ratios"] and tried["interval"]["low"] <= tried["speedup"] <= tried["interval"]["high"]
    assert f"Measured on {GPU}" in (folder / "best.cu").read_text()
    shown = kw("show", record["id"])
    assert f"run and timed on {GPU}" in shown.out and "nothing was timed" not in shown.out, shown
    refused = kw("optimize", "--resume", record["id"], "--evaluations", "2")
    assert refused.status != PASSED and f"timed on {GPU}, which is not here" in refused.err, refused


def test_doctor_shows_it(shared_cache, tmp_path):  # noqa: F811
    kernelwright = Kernelwright(tmp_path / "home", shared_cache)
    for settings, present, words in ((STAND_IN, True, f"{GPU} (sm_80)"), ({}, False, "")):
        if not settings and (shutil.which("nvidia-smi") or pathlib.Path("/dev/nvidiactl").exists()):
            continue
        found = {each["what"]: each for each in kernelwright("doctor", "--json", **settings).json["findings"]}["NVIDIA GPU"]
        assert found["present"] == present and words in found["detail"], found
