"""verify, measure and optimize for kernels in CUDA, as a user calls them on a machine without a GPU."""

import sys

import pytest
from nvidia import ROOT, find_nvcc

sys.path.insert(0, str(ROOT / "tests" / "support"))
from cli import NOT_PASSED, PASSED, assert_refused  # noqa: E402
from cli import kw, shared_cache  # noqa: E402, F401: fixtures

pytestmark = pytest.mark.skipif(find_nvcc() is None, reason="there is no nvcc")


def test_a_finding_names_its_line_and_tensor(kw):  # noqa: F811
    run = kw("verify", "problems/scale_relu.py", "redteam/gpu_past_the_end.cu", "--json")
    assert run.status == NOT_PASSED, run
    diagnosis = run.json["verdict"]["diagnosis"]
    assert diagnosis["pattern"] == "out_of_bounds" and diagnosis["place"] == "gpu_past_the_end.cu:6", run
    assert any("memory: x" in line for line in diagnosis["evidence"]), run


def test_an_estimate_is_no_timing(kw):  # noqa: F811
    run = kw("measure", "problems/scale_relu.py", "honest/scale_relu.cu", "--machine", "h100", "--json")
    assert run.status == PASSED, run
    answer = run.json
    assert answer["timing"] is None and answer["estimate"]["gpu"] == "h100", run
    assert answer["estimate"]["seconds"] > 0 and answer["estimate"]["launches"][0]["counters"]["global_load_bytes"] == 4 * 65539, run
    assert any("kinds of inputs at full shapes" in note for note in answer["verdict"]["notes"]), run
    text = kw("measure", "problems/scale_relu.py", "honest/scale_relu.cu", "--machine", "h100").out
    assert "an estimate, not a measurement" in text and "vs eager" not in text, text


def test_bad_requests(kw):  # noqa: F811
    assert_refused(kw("verify", "problems/scale_relu.py", "honest/scale_relu.cu", "--machine", "a9000"), "a9000", "h100")
    assert_refused(kw("verify", "problems/scale_relu.py", "honest/scale_relu_plain.cpp", "--machine", "a100"), "goes with kernels for a GPU")
    assert_refused(kw("verify", "problems/scale_relu.py", "honest/scale_relu_plain.cpp", "--dsl", "cute"), ".cu")
    assert_refused(kw("optimize", "problems/scale_relu.py", "--machine", "a100"), "--dsl")
    assert_refused(kw("generate", "problems/scale_relu.py", "--machine", "a100", "--model", "local"), "--dsl")


# A product of 1024 x 1024 takes a virtual GPU minutes with all checks and all kinds of inputs.
LARGE = ROOT / "problems" / "level1" / "01_square_matmul.py"


@pytest.mark.slow
def test_a_large_problem_is_verified_at_reduced_shapes_too(kw):  # noqa: F811
    run = kw("verify", LARGE, "honest/matmul_tiled.cu", "--json")
    assert run.status == PASSED, run
    said = run.json["verdict"]["notes"][-1]
    assert "at full shapes" in said and "at reduced shapes (N 1024 -> " in said, said


@pytest.mark.slow
def test_what_is_only_right_for_small_problems_does_not_pass(kw):  # noqa: F811
    run = kw("verify", LARGE, "cuda/large/idle_when_large.cu", "--json")
    assert run.status == NOT_PASSED and run.json["verdict"]["verdict"] == "wrong", run
    assert "at reduced shapes" not in str(run.json["verdict"]["diagnosis"]["evidence"]), run


@pytest.mark.slow
def test_a_kernel_with_its_own_shapes_runs_at_those(kw):  # noqa: F811
    run = kw("verify", LARGE, "cuda/large/own_shapes.cu", "--json")
    assert run.status == PASSED, run
    said = run.json["verdict"]["notes"][-1]
    assert "not at reduced shapes: " in said and "without checks, " in said, said


def test_what_ends_a_compiler_is_its_own_time(kw):  # noqa: F811
    run = kw("verify", "problems/matmul.py", "honest/matmul_cute_tensor_cores.cu", "--compile-timeout", "1", "--precision", "fp16", "--json")
    assert run.status == NOT_PASSED and run.json["verdict"]["verdict"] == "timed_out", run
    assert "processor time" in run.json["verdict"]["diagnosis"]["summary"], run


@pytest.mark.slow
@pytest.mark.parametrize("dsl", ["cuda-c", "cute"])
@pytest.mark.parametrize("problem", ["row_softmax", "layer_norm", "matmul", "gelu"])
def test_optimize_improves_the_estimate(kw, tmp_path, problem, dsl):  # noqa: F811
    run = kw("optimize", f"problems/{problem}.py", "--dsl", dsl, "--machine", "a100", "--evaluations", "6", "--seed", "3", "--out",
             tmp_path / "best.cu", "--json")
    assert run.status == PASSED, run
    answer = run.json
    best, plain = answer["run"]["estimate"]["seconds"], answer["run"]["reference_seconds"]
    assert best <= plain and answer["run"]["confirmed"] is None, run
    if problem != "gelu":  # a small chain of elementwise operations is one launch already, which takes longer than its work
        winner = answer["individuals"][answer["run"]["winner"]]
        assert best < plain and any(each["presence"] == "present" for each in winner["strategies"]), run
    assert "not measured" in (tmp_path / "best.cu").read_text()
    assert ("#include <cute/" in (tmp_path / "best.cu").read_text()) == (dsl == "cute")
    shown = kw("show", answer["run"]["id"]).out
    assert "(estimate)" in shown and "vs eager" not in shown, shown
    assert kw("verify", f"problems/{problem}.py", tmp_path / "best.cu").status == PASSED
