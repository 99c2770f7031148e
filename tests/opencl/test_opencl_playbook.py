"""Kernels of the OpenCL playbook are right, and their claims are found in the source and in the device's machine code."""

import json
import pathlib
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "cuda")]

from cli import PASSED, ROOT, Kernelwright, assert_refused  # noqa: E402
from cli import kw, shared_cache  # noqa: E402, F401: fixtures
from playbook_cases import CASES, problem_text  # noqa: E402

DRIVER = ROOT / "build" / "release" / "bin" / "opencl_kernels"
DEVICE = subprocess.run([str(DRIVER.parent / "kw-clc"), "describe"], capture_output=True).returncode == 0 if DRIVER.is_file() else False
pytestmark = pytest.mark.skipif(not DEVICE, reason="there is no OpenCL device, or opencl_kernels was not built")

POOL = [strategy["id"] for path in sorted((ROOT / "knowledge" / "strategies" / "opencl").glob("*.json"))
        for strategy in json.loads(path.read_text(encoding="utf-8"))]
FUSED = ["cl_fuse_kernels", "cl_fuse_row_kernel", "cl_fuse_tile_epilogue"]
SETS = {
    "plain": [],
    "all": [strategy for strategy in POOL if strategy != "cl_online_row"],
    "online": [*FUSED, "cl_row_vectors", "cl_online_row"],
}
QUICK = [("broadcast_chain", "all"), ("activations", "all"), ("masked", "all"), ("turned_batch", "all"), ("channels_last", "all"), ("half_add", "plain"), ("joined", "plain"),
         ("softmax", "all"), ("softmax_even", "online"), ("softmax_middle", "all"), ("layer_norm", "all"), ("column_sums", "all"),
         ("matmul", "all"), ("linear_gelu", "all"), ("attention", "all"), ("running_sum", "plain"), ("max_pool", "plain"), ("cross_entropy", "plain"),
         ("gathered", "plain")]


def judged(kernelwright, folder, cases):
    orders = []
    for name, strategies in cases:
        (folder / f"{name}.py").write_text(problem_text(name), encoding="utf-8")
        orders.append(json.dumps({"problem": str(folder / f"{name}.py"), "strategies": SETS[strategies]}))
    ran = subprocess.run([str(DRIVER)], input="\n".join(orders) + "\n", capture_output=True, text=True, env=kernelwright.environment())
    assert ran.returncode == 0, ran.stderr
    return dict(zip(cases, map(json.loads, ran.stdout.splitlines()), strict=True))


def wrong_ones(answers):
    return {case: answer.get("error") or (answer["diagnosis"], answer["source"]) for case, answer in answers.items()
            if answer.get("verdict") != "passed"}


def test_a_kernel_of_each_family(kw, tmp_path):  # noqa: F811
    answers = judged(kw, tmp_path, QUICK)
    assert not wrong_ones(answers)
    claims = {case: set(answer["claims"]) for case, answer in answers.items()}
    assert not claims["max_pool", "plain"]
    assert {"cl_fuse_kernels", "cl_vector_load", "cl_launch_shape", "cl_unroll_items"} <= claims["activations", "all"]
    assert {"cl_row_vectors", "cl_keep_row", "cl_row_accumulators", "cl_fuse_row_kernel"} <= claims["softmax", "all"]
    assert "cl_online_row" in claims["softmax_even", "online"]
    assert "cl_column_vectors" in claims["column_sums", "all"]
    assert {"cl_register_tile", "cl_fuse_tile_epilogue", "cl_prepack"} <= claims["linear_gelu", "all"]
    assert "cl_transpose_tile" in claims["turned_batch", "all"]
    for answer in answers.values():
        assert "struck" not in answer["presences"].values(), answer["presences"]
    assert set().union(*claims.values()) == set(POOL), "every strategy of the pool is in some kernel"


@pytest.mark.slow
def test_every_family_every_way(kw, tmp_path):  # noqa: F811
    assert not wrong_ones(judged(kw, tmp_path, [(name, strategies) for name in CASES for strategies in SETS]))


@pytest.mark.parametrize("problem", ["row_softmax", "matmul", pytest.param("scale_relu", marks=pytest.mark.slow),
                                     pytest.param("layer_norm", marks=pytest.mark.slow)])
def test_optimize_ends_with_a_passed_kernel(kw, tmp_path, problem):  # noqa: F811
    kernel = tmp_path / "best.cl"
    run = kw("optimize", TESTS / "problems" / f"{problem}.py", "--dsl", "opencl", "--evaluations", "4", "--baseline", "eager", "--seed", "3", "--out",
             kernel, "--json")
    assert run.status == PASSED, run
    assert run.json["winner"] and "kw:launch" in kernel.read_text(encoding="utf-8")
    assert run.json["run"]["options"]["dsl"] == "opencl"
    best = run.json["individuals"][run.json["run"]["winner"]]
    assert best["speedup"] > 0 and best["interval"]["low"] <= best["speedup"] <= best["interval"]["high"]
    again = kw("verify", TESTS / "problems" / f"{problem}.py", kernel, "--json")
    assert again.status == PASSED, again


def test_what_is_asked_wrongly_is_told(kw, tmp_path):  # noqa: F811
    problem = TESTS / "problems" / "scale_relu.py"
    kernel = tmp_path / "k.cl"
    kernel.write_text("// kw:launch k groups=1 local=1\n__kernel void k(__global float* out) { out[0] = 1; }\n", encoding="utf-8")
    assert_refused(kw("verify", problem, kernel, "--dsl", "cpp"), ".cpp file")
    assert_refused(kw("verify", problem, kernel, "--machine", "a100"), "--machine")
    assert_refused(kw("verify", problem, kernel, KERNELWRIGHT_OPENCL_DEVICE="none such"), "none such")
    nowhere = tmp_path / "vendors"
    nowhere.mkdir()
    assert_refused(kw("optimize", problem, "--dsl", "opencl", OCL_ICD_VENDORS=f"{nowhere}/"), "pocl-opencl-icd")
