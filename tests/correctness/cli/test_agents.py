"""A model in the real program: one kernel written and repaired, a search under faults, recorded and replayed, shown; and never a key."""

import json
import os
import pathlib
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

import model_server  # noqa: E402
from cli import BAD_INPUT, NOT_PASSED, PASSED, ROOT, Kernelwright, assert_refused  # noqa: E402
from cli import kw, shared_cache  # noqa: E402, F401: fixtures

PROBLEM = "problems/scale_relu.py"
KEY = "sk-planted-2b81d07e"
GOOD = """#include "problem.h"
#include <algorithm>
extern "C" void kw_kernel(const float* x, float* out) {
#pragma omp parallel for simd
  for (std::int64_t i = 0; i < x_numel; ++i) out[i] = std::max(x[i], 0.0f) * 2.5f;
}
"""
BROKEN = GOOD.replace("* 2.5f;", "* 2.5f")
PATCH = "<<<<<<< FIND\n  for (std::int64_t i = 0; i < x_numel; ++i) out[i] = std::max(x[i], 0.0f) * 2.5f\n=======\n" \
        "  for (std::int64_t i = 0; i < x_numel; ++i) out[i] = std::max(x[i], 0.0f) * 2.5f;\n>>>>>>> REPLACE\n"
TRANSLATOR, DIAGNOSE, FIX = "One ```cpp block", "You find why a C\\+\\+ kernel fails", "You repair C\\+\\+ kernels"
IDEA = {"strategies": [{"name": "Alternate the direction of neighbouring chunks", "lever": "reorder_loops", "predicts": 1.1,
                        "why": "What one chunk ended with is still cached when the next begins."}], "use": []}


def key(folder, value=KEY):
    """The environment: a key, and no configuration file of whoever runs the tests."""
    return {"OPENAI_API_KEY": value, "KERNELWRIGHT_CONFIG": folder / "config.toml"}


def code(text):
    return f"```cpp\n{text}```\n"


def rules(kernel):
    """A model that knows its job: each prompt by the words that only its role has."""
    return [{"contains": TRANSLATOR, "answer": code(kernel)},
            {"contains": DIAGNOSE, "answer": json.dumps({"cause": "a semicolon is missing", "lines": [5], "fix": "add it"})},
            {"contains": FIX, "answer": PATCH},
            {"contains": "You plan the optimisation", "answer": json.dumps(IDEA)},
            {"contains": "say what they really do",
             "answer": json.dumps({"strategies": [{"id": "model_alternate_the_direction_of_neighbouring", "done": False}]})}]


@pytest.fixture
def server():
    started = []

    def begin(**plan):
        one, url = model_server.start({"key": KEY, "model": "tester", **plan})
        started.append(one)
        return url

    yield begin
    for one in started:
        one.shutdown()


def verdicts(run):
    return [(attempt["proposal"].get("task"), attempt["verdict"], attempt["kernel"]["source"]) for attempt in run.json["attempts"]]


def assert_no_key(kw, *texts, files=()):
    for path in [*(p for p in kw.home.rglob("*") if p.is_file()), *files]:
        assert KEY.encode() not in path.read_bytes(), f"the key is in {path}"
    for text in texts:
        assert KEY not in text


def test_a_kernel_is_written_repaired_recorded_and_replayed(kw, server, tmp_path):
    recording, kernel = tmp_path / "exchanges.jsonl", tmp_path / "kernel.cpp"
    words = ("generate", PROBLEM, "--out", kernel, "--json")
    alone = kw(*words, "--model", "tester", "--base-url", server(rules=rules(BROKEN)), "--attempts", "1", **key(tmp_path))
    assert alone.status == NOT_PASSED and len(alone.json["attempts"]) == 1, "without the debugger it does not compile"
    url = server(rules=rules(BROKEN), steps=[{"answer": "I would love to help."}])
    written = kw(*words, "--model", "tester", "--base-url", url, "--record", recording, **key(tmp_path))
    assert written.status == PASSED, written
    tasks = [(task, verdict) for task, verdict, _ in verdicts(written)]
    assert tasks == [("translate", "compile_failed"), ("repair", "passed")]
    assert kernel.read_text() == GOOD
    model = written.json["model"]
    assert model["faults"] == {"no_code": 1}, "the first answer had no code, was named and asked for again"
    assert model["roles"]["translator"]["exchanges"] == 2 and model["roles"]["debugger"]["exchanges"] == 2
    assert model["passed"] == model["repaired"] == 1 and model["all"]["input_tokens"] > 100
    again = kw(*words, "--replay", recording)
    assert again.status == PASSED, again
    assert verdicts(again) == verdicts(written), "the same kernels and verdicts, without a model"
    assert_no_key(kw, written.out, written.err, again.out, files=[recording, kernel])
    other = kw("generate", "problems/gelu.py", "--replay", recording)
    assert_refused(other, "is not in the recording")


def test_a_users_kernel_is_repaired(kw, server, tmp_path):
    kernel, out = tmp_path / "mine.cpp", tmp_path / "out.cpp"
    kernel.write_text(BROKEN)
    url = server(rules=rules(GOOD))
    run = kw("repair", PROBLEM, kernel, "--model", "tester", "--base-url", url, "--out", out, **key(tmp_path))
    assert run.status == PASSED, run
    assert out.read_text() == GOOD and kernel.read_text() == BROKEN, "the user's own file is left as it is"
    assert "cause: a semicolon is missing" in run.out
    assert "debugger" in run.out and "tokens" in run.out


def test_a_search_speaks_the_other_protocol_too(kw, server, tmp_path):
    url = server(rules=rules(GOOD))
    run = kw("optimize", PROBLEM, "--search", "refine", "--evaluations", "3", "--seed", "5", "--baseline", "eager", "--model", "tester", "--protocol",
             "anthropic", "--base-url", url, "--out", tmp_path / "kernel.cpp", "--json", ANTHROPIC_API_KEY=KEY, KERNELWRIGHT_CONFIG=tmp_path / "config.toml")
    assert run.status == PASSED, run
    own = [i for i in run.json["individuals"] if i["proposal"].get("author") == "tester"]
    assert any(i["verdict"] == "passed" for i in own), run
    assert_no_key(kw, run.out, run.err)


def test_what_the_user_has_to_mend(kw, server, tmp_path):
    url = server()
    kernel = tmp_path / "empty.cpp"
    kernel.write_text("\n")
    assert_refused(kw("repair", PROBLEM, kernel, "--model", "tester", "--base-url", url, **key(tmp_path)), "is empty")
    assert_refused(kw("generate", PROBLEM, "--model", "tester", "--base-url", url, "--record", "a", "--replay", "b"), "do not go together")
    assert kw("generate", PROBLEM, "--model", "tester", "--base-url", url, **key(tmp_path, "wrong-key-1")).status == BAD_INPUT


def test_a_search_under_faults_ends_with_a_passed_kernel(kw, server, tmp_path):
    url = server(rules=rules(GOOD), fault_rate=0.3, seed=7, faults=[*model_server.PASSING, *model_server.USELESS])
    kernel = tmp_path / "kernel.cpp"
    run = kw("optimize", PROBLEM, "--search", "refine", "--evaluations", "8", "--seed", "5", "--baseline", "eager", "--model", "tester",
             "--base-url", url, "--out", kernel, "--json", **key(tmp_path))
    assert run.status == PASSED, run
    result = run.json
    authors = {individual["proposal"].get("author", "playbook") for individual in result["individuals"]}
    assert authors == {"playbook", "tester"}, "both work in one population"
    passed = [i for i in result["individuals"] if i["verdict"] == "passed"]
    assert passed, run
    use = result["model"]
    assert use["model"] == "tester" and use["all"]["exchanges"] >= 1
    assert "turns: playbook" in " ".join(result["notes"])
    listed = kw("show", "1", "--prompts", "--json").json
    assert len(listed) == use["all"]["exchanges"]
    one = kw("show", "1", "--prompts", "0")
    assert one.status == PASSED and "--- user" in one.out and "--- answer" in one.out, one
    assert_refused(kw("show", "1", "--prompts", "9999"), "has no exchange 9999")
    assert "model" in kw("show", "1").out
    assert_no_key(kw, run.out, run.err, one.out, files=[kernel])
    # Going on needs the model that the run began with; its name and address are known, its key is not kept.
    more = kw("optimize", "--resume", "1", "--evaluations", "9", "--baseline", "eager", "--out", kernel, "--json", **key(tmp_path))
    assert more.status in (PASSED, NOT_PASSED), more
    sources = [(i["index"], i["assembly_hash"]) for i in result["individuals"]]
    assert [(i["index"], i["assembly_hash"]) for i in more.json["individuals"]][:len(sources)] == sources


# A pointwise operation, a row reduction, softmax, a small product; none of them is among the examples that a model is shown.
EASY = ("silu", "row_norm", "scaled_softmax", "matmul_transposed")
RECORDED = ROOT / "tests" / "cases" / "models"  # what the local model said of them


def expected(name):
    return [tuple(attempt) for attempt in json.loads((RECORDED / "expected.json").read_text())[name]]


@pytest.mark.parametrize("name", EASY)
def test_what_the_local_model_said_gives_the_same_kernels_and_verdicts_again(kw, name, tmp_path):
    attempts = expected(name)
    run = kw("generate", f"problems/{name}.py", "--replay", RECORDED / f"{name}.jsonl", "--attempts", len(attempts), "--out",
             tmp_path / "kernel.cpp", "--json")
    assert verdicts(run) == attempts, run
    assert run.json["model"]["model"] == "local"


def by_the_model(kw, run, individuals):
    """What a model wrote of its own, as (task, verdict, source): neither knobs nor code that was there before."""
    own = [i for i in individuals if i["proposal"]["origin"] == "model" and i["proposal"].get("author") and i["duplicate_of"] < 0]
    return [(i["proposal"]["task"], i["verdict"], kw("show", run, "--kernel", i["index"]).out) for i in own]


def test_a_recorded_search_is_replayed(kw, tmp_path):
    run = kw("optimize", "problems/silu.py", "--search", "refine", "--evaluations", "2", "--baseline", "eager", "--replay",
             RECORDED / "silu.jsonl", "--out", tmp_path / "kernel.cpp")
    assert run.status == PASSED, run
    assert re.search(r"^  time +.*(writing|timing) [0-9.]+ s", run.out, re.MULTILINE), "the time by stage is in the summary"
    assert re.search(r"^  translator +1 exchange, \d+ \+ \d+ tokens, [0-9.]+ s, no cost$", run.out, re.MULTILINE), run
    individuals = kw("show", "1", "--json").json["individuals"]
    assert [i["proposal"].get("author", "playbook") for i in individuals] == ["playbook", "local"]
    assert by_the_model(kw, "1", individuals) == expected("silu")


@pytest.mark.slow
def test_the_real_local_model_writes_kernels_that_pass(tmp_path):
    cache = pathlib.Path(os.environ.get("KW_MODEL_CACHE", pathlib.Path.home() / ".cache" / "kernelwright"))  # 1.1 GB is fetched once

    def run(home, *words):
        process = home.start(*words, "--json", KERNELWRIGHT_CONFIG=tmp_path / "config.toml")
        out, err = process.communicate(timeout=3600)
        assert process.returncode == PASSED, err
        return json.loads(out)

    run(Kernelwright(tmp_path / "fetch", cache), "model", "fetch")
    written = {}
    for name in EASY:
        home = Kernelwright(tmp_path / name, cache)
        result = run(home, "optimize", f"problems/{name}.py", "--search", "refine", "--model", "local", "--evaluations", "8", "--seed", "1",
                     "--baseline", "eager", "--out", tmp_path / f"{name}.cpp", "--record", tmp_path / f"{name}.jsonl")
        written[name] = by_the_model(home, "1", result["individuals"])
    passed = [name for name, kernels in written.items() if any(verdict == "passed" for _, verdict, _ in kernels)]
    assert len(passed) >= 2, written
