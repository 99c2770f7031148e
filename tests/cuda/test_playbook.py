"""Kernels of the GPU playbook give PyTorch's answers on the virtual GPU, its checks find nothing in them, and their claims are theirs."""

import json

import pytest
from nvidia import ROOT, find_nvcc
from playbook import KERNELS, Problems, presences, run_trials, written
from playbook_cases import CASES

pytestmark = pytest.mark.skipif(find_nvcc() is None or not KERNELS.is_file(), reason="there is no nvcc, or gpu_kernels was not built")

POOL = [strategy["id"] for path in sorted((ROOT / "knowledge" / "strategies" / "gpu").glob("*.json"))
        for strategy in json.loads(path.read_text(encoding="utf-8"))]
WITHOUT_EVIDENCE = {"fuse_kernels", "fuse_row_kernel", "fuse_tile_epilogue", "fuse_tile_prologue", "multiply_reciprocals"}
FUSED = ["fuse_kernels", "fuse_row_kernel", "fuse_tile_epilogue", "fuse_tile_prologue"]
SETS = {
    "plain": [],
    "all": [strategy for strategy in POOL if strategy not in ("online_row", "swizzle", "fast_maths")],
    "fused": FUSED,
    "rows": [*FUSED, "coalesce_rows", "online_row", "vector_load"],
    "kept": ["fuse_kernels", "fuse_row_kernel", "coalesce_rows", "keep_row_registers", "warp_reduce"],
    "squares": [*FUSED, "shared_tile"],
    "tensor": [*FUSED, "shared_tile", "tensor_core", "vector_load", "async_copy", "multistage", "swizzle"],
    "padded_tensor": [*FUSED, "shared_tile", "tensor_core", "avoid_bank_conflicts", "split_k", "occupancy"],
    "turned": ["fuse_kernels", "transpose_tile", "swizzle", "launch_shape"],
    "shared_out": [*FUSED, "split_rows", "vector_load"],
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


def test_a_single_number_has_no_dimension_to_turn(tmp_path):
    (trial,) = written(Problems(tmp_path), [("mse", "mse", ["transpose_tile"], {})])
    assert "transpose_tile" not in trial.kernel["claims"]


# Kernels that together realise every strategy of the pool. For a GPU of few SMs small problems are large.
REALISED = [
    ("long_chain", ["fuse_kernels", "launch_shape", "persistent", "unroll_items", "vector_load", "occupancy", "fast_maths"], {"sms": 1}),
    ("softmax_even", ["fuse_kernels", "fuse_row_kernel", "coalesce_rows", "online_row", "multiply_reciprocals"], {"sms": 8}),
    ("layer_norm", ["fuse_kernels", "fuse_row_kernel", "coalesce_rows", "warp_reduce", "warp_per_row", "keep_row_registers",
                    "vector_load"], {"sms": 8}),
    ("scaled_linear", ["fuse_kernels", "fuse_tile_epilogue", "fuse_tile_prologue", "shared_tile"], {}),
    ("matmul_long", ["shared_tile", "thread_tile", "vector_load", "async_copy", "multistage", "avoid_bank_conflicts", "split_k"], {}),
    ("half_matmul", ["shared_tile", "tensor_core", "swizzle", "vector_load"], {}),
    ("whole_sum", ["split_rows"], {}),
    ("transposed_sum", ["transpose_tile"], {}),
]


def test_every_strategy_is_in_some_kernel(tmp_path):
    """Claimed as it was asked for, and found in the source and in PTX by the alignment that searches use."""
    trials = written(Problems(tmp_path), [(name, name, strategies, options) for name, strategies, options in REALISED])
    run = run_trials(trials, tmp_path)
    assert not run.json["findings"], run
    seen = set()
    for trial, found, (_, strategies, _) in zip(trials, presences(trials, tmp_path), REALISED, strict=True):
        worst, noise = trial.error()
        assert worst <= 4 * noise + (3e-6 if trial.eager[0].element_size() >= 4 else 1e-2), f"{trial.name}: {worst} beside eager's {noise}"
        assert set(strategies) == set(found), trial.name
        assert "struck" not in found.values(), f"{trial.name}: {found}"
        seen |= {strategy for strategy, presence in found.items() if presence == "present" or strategy in WITHOUT_EVIDENCE}
    assert seen == set(POOL)


def test_tensor_cores_round_floats_only_under_a_contract(tmp_path):
    asked_for = ["shared_tile", "tensor_core", "vector_load", "async_copy"]
    strict, rounded = written(Problems(tmp_path), [(label, "matmul_even", asked_for, {"precision": label}) for label in ("float32", "tf32")])
    assert "tensor_core" not in strict.kernel["claims"] and "tensor_core" in rounded.kernel["claims"]
    assert not run_trials([strict, rounded], tmp_path).json["findings"]
    assert strict.error()[0] < 1e-5 < rounded.error()[0] < 5e-3


@pytest.mark.slow
@pytest.mark.parametrize("label", SETS)
def test_the_whole_matrix(tmp_path, label):
    judged(tmp_path, list(CASES), [label])
