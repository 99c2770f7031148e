"""Kernels of the GPU playbook give PyTorch's answers on the virtual GPU, its checks find nothing in them, and their claims are theirs."""

import json

import pytest
from nvidia import ROOT, find_nvcc
from playbook import KERNELS, Problems, run_trials, written
from playbook_cases import CASES

pytestmark = pytest.mark.skipif(find_nvcc() is None or not KERNELS.is_file(), reason="there is no nvcc, or gpu_kernels was not built")

POOL = [strategy["id"] for path in sorted((ROOT / "knowledge" / "strategies" / "gpu").glob("*.json"))
        for strategy in json.loads(path.read_text(encoding="utf-8"))]
FUSED = ["fuse_kernels", "fuse_row_kernel", "fuse_tile_epilogue", "fuse_tile_prologue"]
SETS = {
    "plain": [],
    "all": [strategy for strategy in POOL if strategy not in ("online_row", "swizzle", "fast_maths")],
    "fused": FUSED,
    "rows": [*FUSED, "coalesce_rows", "online_row", "vector_load"],
    "kept": ["fuse_kernels", "fuse_row_kernel", "coalesce_rows", "keep_row_registers", "warp_reduce"],
    "squares": [*FUSED, "shared_tile"],
    "tiles": ["fuse_kernels", "shared_tile", "thread_tile", "vector_load", "split_k"],
}
QUICK = ["broadcast_chain", "softmax_even", "layer_norm", "matmul", "linear_gelu", "running_sum"]


def judged(tmp_path, names, sets):
    problems = Problems(tmp_path)
    trials = written(problems, [(f"{name}_{label}", name, SETS[label], {}) for name in names for label in sets])
    run = run_trials(trials, tmp_path)
    assert not run.json["findings"], run
    for trial in trials:
        worst, noise = trial.error()
        room = 3e-6 if trial.eager[0].element_size() >= 4 else 1e-2
        assert worst <= 4 * noise + room, f"{trial.name}: {worst} beside eager's {noise}"
    return trials


def test_a_kernel_of_each_family(tmp_path):
    trials = judged(tmp_path, QUICK, ["plain", "all"])
    claims = {trial.name: set(trial.kernel["claims"]) for trial in trials}
    assert not claims["matmul_plain"] and not claims["softmax_even_plain"]
    assert {"fuse_kernels", "vector_load"} <= claims["broadcast_chain_all"]
    assert {"warp_reduce", "keep_row_registers", "vector_load"} <= claims["layer_norm_all"]
    assert {"shared_tile", "thread_tile", "fuse_tile_epilogue", "async_copy"} <= claims["linear_gelu_all"]
    for trial in trials:
        for claim in trial.kernel["claims"]:
            assert f"// strategy {claim}: " in trial.kernel["source"]


@pytest.mark.slow
@pytest.mark.parametrize("label", SETS)
def test_the_whole_matrix(tmp_path, label):
    judged(tmp_path, list(CASES), [label])
