"""The main job through the real program: a problem in, a verified kernel out; stopped, killed, resumed and shown."""

import pathlib
import random
import re
import signal
import sqlite3
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

from cli import BAD_INPUT, NOT_PASSED, PASSED, assert_refused, problem_text  # noqa: E402
from cli import kw, shared_cache  # noqa: E402, F401: fixtures

PROBLEM = "problems/scale_relu.py"
PRODUCT = "problems/matmul.py"  # has more kernels than a run tries
QUICK = ("--baseline", "eager")  # torch.compile takes long to warm up


def individuals(home):
    """(run, position) of all that is archived, in order."""
    with sqlite3.connect(f"file:{home / 'archive.db'}?mode=ro", uri=True) as connection:
        return connection.execute("SELECT run, position FROM individuals ORDER BY run, position").fetchall()


@pytest.fixture(scope="module")
def searched(shared_cache, tmp_path_factory):
    """One short search with everything that it printed and wrote."""
    from cli import Kernelwright
    folder = tmp_path_factory.mktemp("searched")
    kernelwright = Kernelwright(folder / "home", shared_cache)
    run = kernelwright("optimize", PROBLEM, "--evaluations", "6", "--seed", "5", "--out", folder / "kernel.cpp", "--json")
    return kernelwright, run, folder / "kernel.cpp"


def test_ends_with_a_passed_kernel_in_a_file(searched):
    kw, run, kernel = searched
    assert run.status == PASSED, run
    outcome = run.json
    assert outcome["run"]["state"] == "done"
    assert len(outcome["individuals"]) == 6
    assert {c["baseline"] for c in outcome["run"]["confirmed"]["comparisons"]} == {"eager", "compile"}
    text = kernel.read_text()
    assert "Written by Kernelwright" in text and "kw_kernel" in text
    again = kw("verify", PROBLEM, kernel)
    assert again.status == PASSED, "the file that was written does not pass"


def test_shows_the_run_its_kernels_and_the_ledger(searched):
    kw, run, _ = searched
    listed = kw("runs")
    assert listed.status == PASSED and "scale_relu" in listed.out, listed
    shown = kw("show", "1")
    assert shown.status == PASSED, shown
    for word in ("scale_relu", "eager"):
        assert word in shown.out, shown
    source = kw("show", "1", "--kernel", "0")
    assert source.status == PASSED and "kw_kernel" in source.out, source
    ledger = kw("ledger")
    assert ledger.status == PASSED, ledger
    rows = kw("ledger", "--json").json
    assert rows and all(row["n"] + row["failures"] > 0 for row in rows), "six kernels say nothing of any strategy"
    assert kw("runs", "--json").json[0]["individuals"] == 6


def test_the_same_seed_makes_the_same_first_decisions(searched, kw):
    first = [i["proposal"]["strategies"] for i in searched[1].json["individuals"]]
    again = kw("optimize", PROBLEM, "--evaluations", "2", "--seed", "5", *QUICK, "--out", kw.home.parent / "k.cpp", "--json")
    assert again.status == PASSED, again
    assert [i["proposal"]["strategies"] for i in again.json["individuals"]] == first[:2]


def test_goes_on_after_kill_and_interrupt_without_losing_or_doubling(kw):
    out = kw.home.parent / "kernel.cpp"
    process = kw.start("optimize", PROBLEM, "--evaluations", "8", "--seed", "3", *QUICK, "--out", out)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not ((kw.home / "archive.db").exists() and len(archived(kw)) >= 2):
        time.sleep(0.1)
    process.kill()
    process.communicate()
    kept = archived(kw)
    assert 2 <= len(kept) < 8, "it was killed too early or too late to tell"
    busy = kw.start("optimize", "--resume", "1", *QUICK, "--out", out)
    while time.monotonic() < deadline and len(archived(kw)) <= len(kept):
        time.sleep(0.1)
    second = kw("optimize", "--resume", "1")
    assert_refused(second, "run 1", "another process")
    busy.send_signal(signal.SIGINT)
    stopped = kw.finish(busy)
    assert stopped.status == PASSED, stopped
    assert "interrupted" in stopped.out, stopped
    ended = kw("optimize", "--resume", "1", *QUICK, "--out", out, "--json")
    assert ended.status == PASSED, ended
    assert ended.json["run"]["state"] == "done"
    assert archived(kw) == [(1, i) for i in range(8)]
    assert archived(kw)[: len(kept)] == kept


def archived(kw):
    try:
        return individuals(kw.home)
    except sqlite3.OperationalError:
        return []


@pytest.mark.slow
def test_twenty_kills(kw):
    """At any moment of a run: nothing that was archived is lost or doubled, and the run ends."""
    chance = random.Random(1)
    out = kw.home.parent / "kernel.cpp"
    words = ["optimize", PRODUCT, "--evaluations", "30", "--seed", "3", *QUICK, "--out", out]
    for _ in range(20):
        before = archived(kw)
        process = kw.start(*words)
        time.sleep(chance.uniform(0.2, 9))
        process.kill()
        process.communicate()
        after = archived(kw)
        assert after[: len(before)] == before and after == [(1, i) for i in range(len(after))], (before, after)
        if after or kw("runs", "--json").json:
            words = ["optimize", "--resume", "1", *QUICK, "--out", out]
    ended = kw(*words, "--json")
    assert ended.status == PASSED, ended
    assert archived(kw) == [(1, i) for i in range(30)]


def test_a_win_can_be_required(kw):
    out = kw.home.parent / "kernel.cpp"
    run = kw("optimize", PROBLEM, "--search", "generate", "--evaluations", "1", *QUICK, "--require-win", "--out", out, "--json")
    told = run.json["against_pytorch"]
    assert run.status == (PASSED if told["standing"] == "faster" else NOT_PASSED), run
    assert told["standing"] in ("faster", "slower", "unclear") and out.exists(), "the kernel is offered either way"
    assert kw("show", "1").out.startswith(told["words"]), "the first line says how it stands"
    assert_refused(kw("optimize", PROBLEM, "--dsl", "triton", "--require-win"), "--require-win", "triton")


@pytest.mark.parametrize("search", ["refine", "generate"])
def test_other_policies(kw, search):
    run = kw("optimize", PROBLEM, "--search", search, "--evaluations", "3", *QUICK, "--out", kw.home.parent / "k.cpp")
    assert run.status == PASSED, run
    assert re.search(r"\d\.\d\dx", run.out), run


def test_refuses_what_it_cannot_do(kw, tmp_path):
    assert_refused(kw("optimize"), "needs a problem")
    assert_refused(kw("optimize", PROBLEM, "--time", "soon"), "soon")
    assert_refused(kw("optimize", PROBLEM, "--out", tmp_path / "no" / "k.cpp"), "no folder")
    assert_refused(kw("optimize", "--resume", "77"), "no run 77")
    assert_refused(kw("show", "77"), "no run 77")
    assert_refused(kw("show", "latest"), "latest")
    odd = tmp_path / "odd.py"
    odd.write_text(problem_text(forward="return torch.linalg.qr(x.reshape(8, 8)).Q"))
    refused = kw("optimize", odd, "--evaluations", "1")
    assert_refused(refused, "odd", "qr")
    assert refused.status == BAD_INPUT
