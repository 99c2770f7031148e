"""What the commands print and how they end when nothing is wrong with their input."""

import os
import pathlib
import pty
import re
import shutil
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

from cli import BAD_INPUT, NOT_PASSED, PASSED, assert_refused, problem_text  # noqa: E402
from documented import assert_documented  # noqa: E402
from cli import drawn, kw, shared_cache  # noqa: E402, F401: fixtures

PROBLEM, KERNEL = "problems/scale_relu.py", "honest/scale_relu_plain.cpp"
QUICK = ("--baseline", "eager", "--time", "0.5")


def assert_verdict_documented(verdict: dict):
    assert_documented(verdict, "verdict")
    assert ("diagnosis" in verdict) == (verdict["verdict"] != "passed")
    if "diagnosis" in verdict:
        assert_documented(verdict["diagnosis"], "diagnosis")
    for check in verdict["checks"]:
        assert_documented(check, "check")
        for output in check["outputs"]:
            assert_documented(output, "check.output")


def assert_timing_documented(timing: dict):
    assert_documented(timing, "timing")
    assert timing["comparisons"]
    for comparison in timing["comparisons"]:
        assert_documented(comparison, "comparison")
        assert set(comparison["interval"]) == {"low", "high"}


def assert_evaluation_documented(evaluation: dict):
    assert_documented(evaluation, "verify")
    assert_documented(evaluation["key"], "verify.key")
    assert_verdict_documented(evaluation["verdict"])
    if evaluation["timing"]:
        assert_timing_documented(evaluation["timing"])
    for name in ("created_at", "updated_at"):
        assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", evaluation[name]), f"{name} is '{evaluation[name]}'"


def seeds(evaluation: dict) -> list:
    return [(check["distribution"], check["seed"], check["threads"]) for check in evaluation["verdict"]["checks"]]


# doctor

def test_doctor_says_what_is_here(kw):
    run = kw("doctor")
    assert run.status == PASSED and run.err == "", run
    for name in ("C++ compiler", "PyTorch", "bubblewrap", "landlock", "GFLOP/s", "bandwidth"):
        assert name in run.out, run
    assert "can be verified and measured here" in run.out


def test_doctor_json(kw):
    run = kw("doctor", "--json")
    assert run.status == PASSED and run.err == "", run
    report = run.json
    assert_documented(report, "doctor")
    assert_documented(report["machine"], "machine")
    for heading, rows in (("doctor.finding", report["findings"]), ("machine.peak", report["machine"]["peaks"]),
                          ("machine.bandwidth", report["machine"]["bandwidth"])):
        assert rows
        for row in rows:
            assert_documented(row, heading)
    assert report["archive"] == str(kw.home / "archive.db")
    assert all(bool(row["remedy"]) != row["present"] for row in report["findings"])


def test_doctor_without_a_compiler_is_not_ready(kw):
    run = kw("doctor", "--json", KERNELWRIGHT_CXX="no-such-compiler")
    assert run.status == NOT_PASSED, run
    found = {row["what"]: row for row in run.json["findings"]}
    assert run.json["ready"] is False and found["C++ compiler"]["present"] is False and found["C++ compiler"]["remedy"]


# describe

@pytest.mark.parametrize("name, declaration, words", [
    ("affine_scalars", "double", ("pointwise",)),
    ("linear_relu", "const float* x", ("matmul", "float32[")),
    ("transposed_input", "float* out", ("strides",)),
])
def test_describe_says_what_a_kernel_has_to_be(kw, name, declaration, words):
    run = kw("describe", f"problems/{name}.py")
    assert run.status == PASSED and run.err == "", run
    assert run.out.startswith(name + "\n"), run
    kernel = re.search(r'^kernel +(extern "C" void kw_kernel\(.*\))$', run.out, re.MULTILINE)
    assert kernel and declaration in kernel.group(1), run
    for word in ("zone", "sensitivity", *words):
        assert word in run.out, f"'{word}' is missing\n{run}"
    report = kw("describe", f"problems/{name}.py", "--json").json
    assert report["kernel"] == kernel.group(1)
    assert_documented(report, "describe")
    for part in ("sensitivity", "workload_class", "roofline"):
        assert_documented(report[part], "describe." + part)
    tensors = report["inputs"] + report["parameters"] + report["outputs"]
    assert tensors and all(("value" in tensor) == (tensor["kind"] == "scalar") for tensor in tensors)
    for tensor in tensors:
        assert_documented(tensor, "tensor")


def test_describe_with_fewer_threads_has_a_higher_floor(kw, drawn):
    cores = kw("doctor", "--json").json["machine"]["cores"]
    if cores == 1:
        pytest.skip("one core only")
    one = kw("describe", "problems/scale_relu.py", "--threads", "1", "--json").json["roofline"]
    full = kw("describe", "problems/scale_relu.py", "--json").json["roofline"]
    assert (one["threads"], full["threads"]) == (1, cores)
    # On a busy machine a second thread may have brought nothing while it was measured.
    assert one["compute_seconds"] >= full["compute_seconds"]


# verify

def test_verify_passes_an_honest_kernel_once_and_then_remembers(kw, drawn):
    first = kw("verify", PROBLEM, KERNEL)
    assert first.status == PASSED and first.err == "", first
    assert "scale_relu_plain.cpp on scale_relu: passed" in first.out and "sandbox bubblewrap" in first.out
    assert "archived" not in first.out and kw.evaluations() == 1
    second = kw("verify", PROBLEM, KERNEL)
    assert second.status == PASSED and "archived" in second.out and "--again" in second.out, second
    assert kw.evaluations() == 1
    again = kw("verify", PROBLEM, KERNEL, "--again")
    assert again.status == PASSED and "archived" not in again.out, again
    assert kw.evaluations() == 2


def test_verify_json(kw, drawn):
    fresh = kw("verify", PROBLEM, KERNEL, "--json")
    assert fresh.status == PASSED and fresh.err == "", fresh
    kept = kw("verify", PROBLEM, KERNEL, "--json")
    for run, from_archive in ((fresh, False), (kept, True)):
        evaluation = run.json
        assert_evaluation_documented(evaluation)
        assert evaluation["from_archive"] is from_archive and evaluation["timing"] is None
        assert evaluation["problem"] == "scale_relu" and evaluation["kernel_file"] == "scale_relu_plain.cpp"
        assert evaluation["verdict"]["verdict"] == "passed" and evaluation["verdict"]["checks"]
    assert {**fresh.json, "from_archive": True} == kept.json


@pytest.mark.parametrize("kernel, verdict, stage", [
    ("one_nan.cpp", "wrong", "compare"),
    ("syntax_error.cpp", "compile_failed", "compile"),
    ("writes_null.cpp", "crashed", "run"),
    ("calls_system.cpp", "forbidden", None),
])
def test_verify_says_why_a_kernel_did_not_pass(kw, drawn, kernel, verdict, stage):
    run = kw("verify", PROBLEM, f"redteam/{kernel}", "--json")
    assert run.status == NOT_PASSED and run.err == "", run
    assert_evaluation_documented(run.json)
    record = run.json["verdict"]
    assert record["verdict"] == verdict, run
    assert stage in (None, record["diagnosis"]["stage"])
    assert record["diagnosis"]["summary"]
    text = kw("verify", PROBLEM, f"redteam/{kernel}")
    assert text.status == NOT_PASSED and record["diagnosis"]["summary"] in text.out, text
    assert f"{kernel} on scale_relu: {verdict}" in text.out and "repeat" in text.out


def test_the_repeat_command_repeats_the_verdict_with_the_same_inputs(kw, drawn):
    first = kw("verify", PROBLEM, "redteam/one_nan.cpp", "--json").json
    words = first["verdict"]["repeat"].split()
    assert words[:2] == ["kernelwright", "verify"] and "--seed" in words
    second = kw(*words[1:], "--json")
    assert second.status == NOT_PASSED and second.json["from_archive"] is False, second
    assert seeds(second.json) == seeds(first)
    assert second.json["verdict"]["diagnosis"] == first["verdict"]["diagnosis"]
    assert second.json["verdict"]["repeat"] == first["verdict"]["repeat"]


def test_a_seed_gives_the_same_inputs_each_time(kw, drawn):
    runs = [kw("verify", PROBLEM, KERNEL, "--seed", drawn, "--json") for _ in range(2)]
    assert [run.status for run in runs] == [PASSED, PASSED]
    assert seeds(runs[0].json) == seeds(runs[1].json)
    assert runs[0].json["verdict"]["checks"] == runs[1].json["verdict"]["checks"]
    assert runs[1].json["verdict"]["repeat"].endswith(f"--seed {drawn}")


def test_knobs_and_precision_are_part_of_the_key(kw):
    words = ("verify", "problems/matmul.py", "honest/matmul_blocked.cpp", "--json")
    plain = kw(*words).json
    tiled = kw(*words, "--knob", "KW_TILE_M=16", "--knob", "KW_TILE_K=32").json
    assert plain["verdict"]["verdict"] == tiled["verdict"]["verdict"] == "passed"
    assert not tiled["from_archive"] and tiled["key"]["knobs"] == {"KW_TILE_M": "16", "KW_TILE_K": "32"}
    assert "--knob KW_TILE_K=32" in tiled["verdict"]["repeat"]
    # The order on the command line is of no importance.
    assert kw(*words, "--knob", "KW_TILE_K=32", "--knob", "KW_TILE_M=16").json["id"] == tiled["id"]
    assert kw(*words).json["id"] == plain["id"]


SLOW_BY_A_TENTH = """#include "problem.h"
#include <ctime>
extern "C" void kw_kernel(const float* x, float* out) {
  timespec start, now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - start.tv_sec) * 1e9 + (now.tv_nsec - start.tv_nsec) < 1e8);
  for (std::int64_t i = 0; i < x_numel; ++i) out[i] = x[i] > 0 ? x[i] * 2.5f : 0.0f;
}
"""


def test_limits_are_part_of_the_key_and_a_timeout_is_never_an_answer_from_the_archive(kw, drawn, tmp_path):
    (tmp_path / "slow.cpp").write_text(SLOW_BY_A_TENTH)
    words = ("verify", PROBLEM, tmp_path / "slow.cpp", "--json")
    hasty = kw(*words, "--timeout", "0.02")
    assert hasty.status == NOT_PASSED and hasty.json["verdict"]["verdict"] == "timed_out", hasty
    assert "--timeout 0.02" in hasty.json["verdict"]["repeat"]
    patient = kw(*words)
    assert patient.status == PASSED and not patient.json["from_archive"], patient
    assert patient.json["key"]["conditions"] != hasty.json["key"]["conditions"]
    # How busy the machine was decides a timeout too: it is found out again, and nothing that passed stands for it.
    again = kw(*words, "--timeout", "0.02")
    assert again.json["verdict"]["verdict"] == "timed_out" and not again.json["from_archive"], again
    assert kw(*words).json["id"] == patient.json["id"]


def test_the_compilers_limit_is_part_of_the_key(kw, drawn):
    hasty = kw("verify", PROBLEM, KERNEL, "--compile-timeout", "100", "--json").json
    usual = kw("verify", PROBLEM, KERNEL, "--json").json
    assert not usual["from_archive"] and usual["id"] != hasty["id"]
    assert "--compile-timeout 100" in hasty["verdict"]["repeat"]


def test_a_seed_that_was_chosen_proves_nothing_later(kw, drawn):
    chosen = kw("verify", PROBLEM, KERNEL, "--seed", drawn, "--json").json
    assert chosen["verdict"]["verdict"] == "passed" and chosen["verdict"]["chosen_seed"] == int(drawn)
    assert kw("verify", PROBLEM, KERNEL, "--json").json["from_archive"] is False
    failed = kw("verify", PROBLEM, "redteam/one_nan.cpp", "--seed", drawn, "--json").json
    assert kw("verify", PROBLEM, "redteam/one_nan.cpp", "--json").json["id"] == failed["id"], "wrong is wrong with any inputs"


def test_settings_that_pytorch_heeds_are_part_of_the_key(kw, drawn):
    plain = kw("verify", PROBLEM, KERNEL, "--json").json
    slower = kw("verify", PROBLEM, KERNEL, "--json", ATEN_CPU_CAPABILITY="default").json
    assert not slower["from_archive"] and slower["key"]["conditions"]["ATEN_CPU_CAPABILITY"] == "default"
    assert kw("verify", PROBLEM, KERNEL, "--json", TORCH_HOME="elsewhere").json["id"] == plain["id"]


def test_a_longer_timing_is_not_answered_with_a_shorter_one(kw, drawn):
    words = ("measure", PROBLEM, KERNEL, "--baseline", "eager", "--json")
    for seconds in ("0.5", "1"):
        timing = kw(*words, "--time", seconds).json["timing"]
        comparison = timing["comparisons"][0]
        precise = comparison["interval"]["high"] - comparison["interval"]["low"] <= 2 * 0.015 * comparison["speedup"]
        assert timing["budget_seconds"] == float(seconds) or precise, timing
    assert kw(*words, "--time", "0.7").json["from_archive"] is True


def test_a_stated_precision_lets_a_bf16_kernel_pass_that_float32_refuses(kw):
    words = ("verify", "problems/matmul.py", "redteam/rounds_to_bf16.cpp", "--json")
    refused = kw(*words)
    assert refused.status == NOT_PASSED and refused.json["verdict"]["verdict"] in ("imprecise", "wrong"), refused
    assert "--precision" in refused.json["verdict"]["diagnosis"]["hint"]
    stated = kw(*words, "--precision", "bf16")
    assert stated.status == PASSED and stated.json["from_archive"] is False, stated
    assert stated.json["key"]["precision"] == stated.json["verdict"]["precision"] == "bf16"
    assert "--precision bf16" in stated.json["verdict"]["repeat"]


def test_landlock_will_do(kw, drawn):
    run = kw("verify", PROBLEM, KERNEL, KERNELWRIGHT_SANDBOX="landlock")
    assert run.status == PASSED and "sandbox landlock" in run.out, run
    # Another sandbox is another key.
    assert "archived" not in kw("verify", PROBLEM, KERNEL).out


def path_without_bubblewrap(folder):
    folder.mkdir()
    for program in ("g++", "true", "addr2line", "as", "ld"):
        if found := shutil.which(program):
            (folder / program).symlink_to(found)
    return folder


def test_without_a_sandbox_only_when_told_so(kw, drawn, tmp_path):
    settings = {"KERNELWRIGHT_SANDBOX": "bubblewrap", "PATH": path_without_bubblewrap(tmp_path / "bin")}
    assert_refused(kw("verify", PROBLEM, KERNEL, **settings), "sandbox", "--unsafe-no-sandbox", "bubblewrap")
    assert kw.evaluations() == 0
    run = kw("verify", PROBLEM, KERNEL, "--unsafe-no-sandbox", "--json", **settings)
    assert run.status == PASSED, run
    assert run.json["verdict"]["sandbox"] == run.json["key"]["sandbox"] == "none"
    assert "--unsafe-no-sandbox" in run.json["verdict"]["repeat"]
    assert "sandbox none (unsafe)" in kw("verify", PROBLEM, KERNEL, "--unsafe-no-sandbox", **settings).out
    # Where a sandbox works, the option changes nothing.
    boxed = kw("verify", PROBLEM, KERNEL, "--unsafe-no-sandbox", "--json")
    assert boxed.json["verdict"]["sandbox"] == "bubblewrap"


def test_the_folder_of_the_call_does_not_matter(kw, tmp_path):
    """Files there may have the names of Python's own modules."""
    for name in ("random", "json", "torch"):
        (tmp_path / f"{name}.py").write_text(problem_text())
    run = kw("describe", "random.py", folder=tmp_path)
    assert run.status == PASSED and run.out.startswith("random\n"), run


# measure

def test_measure_compares_with_eager(kw, drawn):
    run = kw("measure", PROBLEM, KERNEL, *QUICK, "--json")
    assert run.status == PASSED and run.err == "", run
    evaluation = run.json
    assert_evaluation_documented(evaluation)
    timing = evaluation["timing"]
    assert [comparison["baseline"] for comparison in timing["comparisons"]] == ["eager"]
    comparison = timing["comparisons"][0]
    assert comparison["baseline_seconds"] > 0 and comparison["candidate_seconds"] > 0
    assert comparison["interval"]["low"] <= comparison["speedup"] <= comparison["interval"]["high"]
    assert comparison["pairs"] > 1 and comparison["calls"] >= comparison["pairs"]
    text = kw("measure", PROBLEM, KERNEL, *QUICK)
    assert text.status == PASSED and "vs eager" in text.out and "archived" in text.out, text
    # verify knows of it too, and keeps the timing.
    assert kw("verify", PROBLEM, KERNEL, "--json").json["timing"] == timing


def test_measure_does_not_time_what_is_wrong(kw, drawn):
    run = kw("measure", PROBLEM, "redteam/one_nan.cpp", *QUICK, "--json")
    assert run.status == NOT_PASSED, run
    assert run.json["timing"] is None and run.json["verdict"]["verdict"] == "wrong"


def test_measure_against_another_kernel(kw, drawn):
    run = kw("measure", PROBLEM, "honest/scale_relu_parallel.cpp", "--against", KERNEL, "--time", "0.5", "--json")
    assert run.status == PASSED and run.err == "", run
    report = run.json
    assert_documented(report, "measure --against")
    assert_verdict_documented(report["verdict"])
    assert_timing_documented(report["timing"])
    assert (report["kernel"], report["against"]) == ("scale_relu_parallel.cpp", "scale_relu_plain.cpp")
    assert [comparison["baseline"] for comparison in report["timing"]["comparisons"]] == ["scale_relu_plain.cpp"]


def test_measure_against_needs_right_results(kw, drawn):
    run = kw("measure", PROBLEM, "redteam/one_nan.cpp", "--against", KERNEL, "--time", "0.5", "--json")
    assert run.status == NOT_PASSED and run.json["timing"] is None, run
    assert run.json["verdict"]["verdict"] == "wrong"
    assert_verdict_documented(run.json["verdict"])


@pytest.mark.slow
def test_measure_compares_with_the_baselines_that_were_asked_for(kw, drawn):
    for baseline in ("compile", "eager"):  # the second is not answered with the first's archived timing
        run = kw("measure", PROBLEM, KERNEL, "--baseline", baseline, "--time", "0.5", "--json")
        assert run.status == PASSED, run
        assert_timing_documented(run.json["timing"])
        assert baseline in [comparison["baseline"] for comparison in run.json["timing"]["comparisons"]]


# errors as JSON, and the terminal

@pytest.mark.parametrize("words", [
    ("describe", "no-such-problem.py"),
    ("verify", PROBLEM, "no-such-kernel.cpp"),
    ("measure", PROBLEM, KERNEL, "--precision", "fp8"),
    ("verify", PROBLEM, KERNEL, "--no-such-option"),
    ("doctor", "--no-such-option"),
])
def test_errors_as_json(kw, words):
    run = kw(*words, "--json")
    assert run.status == BAD_INPUT and run.err == "", run
    assert_documented(run.json, "error")
    assert_documented(run.json["error"], "error.error")
    assert run.json["error"]["kind"] == "bad_input" and run.json["error"]["message"]


def on_terminal(kw, *words, both=False, **settings):
    """What arrives at a terminal as standard error (and as standard output), and the rest."""
    ours, theirs = pty.openpty()
    process = kw.start(*words, options={"stderr": theirs, **({"stdout": theirs} if both else {})}, **settings)
    os.close(theirs)
    shown = b""
    while True:
        try:
            block = os.read(ours, 65536)
        except OSError:  # the terminal's other side is closed
            break
        if not block:
            break
        shown += block
    out = process.communicate(timeout=60)[0]
    os.close(ours)
    return process.returncode, shown.decode(), out


def test_progress_goes_to_a_terminal_and_is_wiped(kw, drawn):
    status, shown, out = on_terminal(kw, "verify", PROBLEM, KERNEL)
    assert status == PASSED
    assert "compiling" in shown and shown.endswith("\r\x1b[K")
    assert out.startswith("scale_relu_plain.cpp on scale_relu: passed") and "\x1b" not in out
    assert on_terminal(kw, "verify", PROBLEM, KERNEL, "--again", "--json")[1] == ""


def test_colour_on_a_terminal_unless_no_color_is_set(kw, drawn):
    assert kw("verify", PROBLEM, KERNEL).status == PASSED
    assert "\x1b[32" in on_terminal(kw, "verify", PROBLEM, KERNEL, both=True)[1]
    assert "\x1b[3" not in on_terminal(kw, "verify", PROBLEM, KERNEL, both=True, NO_COLOR=1)[1]


def test_help_and_version(kw):
    for words in (("--help",), ("verify", "--help"), ("--version",)):
        run = kw(*words)
        assert run.status == PASSED and run.out and run.err == "", run
    assert re.fullmatch(r"kernelwright \d+\.\d+\.\d+\n", kw("--version").out)
    for word in ("doctor", "describe", "verify", "measure", "Exit status"):
        assert word in kw("--help").out
