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
    assert_refused(kw("verify", "problems/scale_relu.py", "honest/scale_relu_plain.cpp", "--machine", "a100"), "CUDA")
    assert_refused(kw("verify", "problems/scale_relu.py", "honest/scale_relu_plain.cpp", "--dsl", "cute"), ".cu")
    assert_refused(kw("optimize", "problems/scale_relu.py", "--machine", "a100"), "--dsl")
    assert_refused(kw("generate", "problems/scale_relu.py", "--machine", "a100", "--model", "local"), "--dsl")


@pytest.mark.slow
@pytest.mark.parametrize("dsl", ["cuda-c", "cute"])
@pytest.mark.parametrize("problem", ["row_softmax", "layer_norm", "matmul", "gelu"])
def test_optimize_improves_the_estimate(kw, tmp_path, problem, dsl):  # noqa: F811
    run = kw("optimize", f"problems/{problem}.py", "--dsl", dsl, "--machine", "a100", "--evaluations", "6", "--seed", "3", "--out",
             tmp_path / "best.cu", "--json")
    assert run.status == PASSED, run
    answer = run.json
    assert answer["run"]["estimate"]["seconds"] < answer["run"]["reference_seconds"] and answer["run"]["confirmed"] is None, run
    best = answer["individuals"][answer["run"]["winner"]]
    assert any(each["presence"] == "present" for each in best["strategies"]), run
    assert "not measured" in (tmp_path / "best.cu").read_text()
    assert ("#include <cute/" in (tmp_path / "best.cu").read_text()) == (dsl == "cute")
    shown = kw("show", answer["run"]["id"]).out
    assert "(estimate)" in shown and "vs eager" not in shown, shown
    assert kw("verify", f"problems/{problem}.py", tmp_path / "best.cu").status == PASSED
