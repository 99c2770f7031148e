"""A folder of problems through the real program: a row for each, whatever it is; ended at any moment, and gone on with."""

import csv
import json
import pathlib
import random
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

from documented import assert_documented  # noqa: E402
from cli import NOT_PASSED, PASSED, Kernelwright, assert_refused, problem_text  # noqa: E402
from cli import kw, shared_cache  # noqa: E402, F401: fixtures

QUICK = ("--search", "generate", "--evaluations", "2", "--baseline", "eager")


@pytest.fixture(scope="module")
def benched(shared_cache, tmp_path_factory):
    """Three problems and a file that is none, searched once."""
    folder = tmp_path_factory.mktemp("benched")
    level = folder / "set" / "level1"
    level.mkdir(parents=True)
    (level / "10_double.py").write_text(problem_text())
    (level / "2_broken.py").write_text(problem_text(forward="raise ValueError('never')"))
    (level / "3_rows.py").write_text(problem_text(head="ROWS = 512", forward="return x.exp()", inputs="[torch.randn(ROWS, 64)]"))
    (level / "4_gone.py").symlink_to("nowhere.py")
    (level / "tools.py").write_text("x = 1\n")
    kw = Kernelwright(folder / "home", shared_cache)
    run = kw("bench", folder / "set", *QUICK, "--scale-to", "64KiB", "--out", folder / "results")
    return kw, folder, run


def test_every_problem_has_its_row(benched):
    _, folder, run = benched
    assert run.status == NOT_PASSED, run
    rows = list(csv.DictReader((folder / "results" / "results.csv").open()))
    assert [row["problem"] for row in rows] == ["level1/2_broken", "level1/3_rows", "level1/4_gone", "level1/10_double"], run
    assert [row["outcome"] for row in rows] == ["error", "passed", "error", "passed"], run
    assert "4_gone.py" in rows[2]["message"] and "try: " in rows[0]["message"]
    assert "never" in rows[0]["message"] and "never" in run.out
    assert rows[1]["author"] == "playbook" and float(rows[1]["eager"]) > 0
    assert "2 of 4 passed" in run.out and "fast_p" in run.out and "level1/tools.py" in run.out
    for word in ("geometric mean", "median"):
        assert word in run.out, run


def test_a_batch_is_made_smaller_and_that_is_said(benched):
    kw, folder, run = benched
    assert "ROWS 512 -> 128" in run.out, run  # 64 columns of float32, in and out, in 64 KiB
    smaller = folder / "results" / "problems" / "level1" / "3_rows.py"
    assert "ROWS = 128" in smaller.read_text()
    assert kw("verify", smaller, folder / "results" / "kernels" / "level1" / "3_rows.cpp").status == PASSED


def test_the_same_command_searches_only_what_is_new(benched):
    kw, folder, _ = benched
    words = ("bench", folder / "set", *QUICK, "--scale-to", "64KiB", "--out", folder / "results", "--json")
    before = json.loads((folder / "results" / "results.json").read_text())["rows"]
    again = kw(*words)
    assert again.status == NOT_PASSED and again.json["suite"]["rows"] == before
    assert kw(*words, "--only", "3_rows", "--only", "10_double").status == PASSED, "what was asked for has passed"
    (folder / "set" / "level1" / "2_broken.py").write_text(problem_text(forward="return x + 1"))
    (folder / "set" / "level1" / "4_gone.py").unlink()
    mended = kw(*words)
    assert mended.status == PASSED, mended
    runs = {row["problem"]: row["run"] for row in mended.json["suite"]["rows"]}
    assert all(runs[name] == run for name, run in {row["problem"]: row["run"] for row in before}.items() if name in runs and run)
    anew = kw(*words, "--again", "--only", "3_rows").json["suite"]["rows"]
    assert {row["problem"] for row in anew if row["run"] != runs[row["problem"]]} == {"level1/3_rows"}, "the others' results stay"


def test_the_page_holds_the_table(benched):
    _, folder, _ = benched
    page = (folder / "results" / "index.html").read_text()
    assert "level1/10_double" in page and "Content-Security-Policy" in page


def test_refuses_what_it_cannot_do(kw, tmp_path, benched):
    assert_refused(kw("bench", tmp_path / "none"), "no such folder")
    (tmp_path / "empty").mkdir()
    assert_refused(kw("bench", tmp_path / "empty"), "no problems")
    assert_refused(kw("bench", "problems", "--scale-to", "huge", "--out", tmp_path / "r"), "huge", "100ms")
    assert_refused(kw("bench", "problems", "--time", "soon", "--out", tmp_path / "r"), "soon")
    _, folder, _ = benched
    assert_refused(kw("bench", folder / "set", "--out", folder / "results"), "other settings", "--again")
    assert_refused(kw("bench", "problems", "--scale-to", "1s", "--scale-to", "2s", "--out", tmp_path / "r"), "--scale-to 2s", "second")
    assert_refused(kw("bench", "problems", "--only", "nothing-like-this", "--out", tmp_path / "r"), "nothing-like-this")
    assert_refused(kw("bench", "../README.md", "--out", tmp_path / "r"), "README.md")
    assert not (tmp_path / "r").exists(), "what is refused leaves nothing behind"
    assert_refused(kw("bench", "problems", "--out", "../README.md"), "README.md", "--out")
    assert_refused(kw("bench", folder / "set", "--out", folder / "set"), "--out")
    for damaged in ('{"name": "se', '{"rows": 3}'):
        (tmp_path / "empty" / "results.json").write_text(damaged)
        assert_refused(kw("bench", folder / "set", "--out", tmp_path / "empty"), "damaged", "--again")
        assert (tmp_path / "empty" / "results.json").read_text() == damaged, "it may be mended by hand"


def planted(folder, names, settings) -> pathlib.Path:
    """Results of a bench in which nothing is done yet."""
    record = {"name": "set", "settings": settings, "machine": "", "torch_version": "", "problems": names, "rows": [], "skipped": [], "under_way": None}
    folder.mkdir()
    (folder / "results.json").write_text(json.dumps(record))
    return folder


def test_the_order_of_limits_is_no_setting(kw, tmp_path, benched):
    _, folder, _ = benched
    settings = json.loads((folder / "results" / "results.json").read_text())["settings"]
    results = planted(tmp_path / "r", [], settings | {"scale_to": "1s, 64KiB"})
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "1_broken.py").write_text(problem_text(head="raise ValueError"))
    for limits in (("64KiB", "1s"), ("1s", "64KiB")):
        words = [word for limit in limits for word in ("--scale-to", limit)]
        assert kw("bench", tmp_path / "set", *QUICK, *words, "--out", results).status == NOT_PASSED


def test_json_is_as_documented(benched):
    kw, folder, _ = benched
    said = kw("bench", folder / "set", *QUICK, "--scale-to", "64KiB", "--out", folder / "results", "--only", "10_double", "--json").json
    assert_documented(said, "bench")
    assert_documented(said["suite"], "bench.suite")
    assert_documented(said["totals"], "bench.totals")
    assert_documented(said["totals"]["over_eager"], "bench.means")
    for row in said["suite"]["rows"]:
        assert_documented(row, "bench.row")


@pytest.mark.slow
def test_killed_and_gone_on_with(kw, tmp_path):
    """At random moments: rows that were there stay as they are, and the bench ends."""
    chance = random.Random(2)
    words = ("bench", "problems", "--only", "matvec", "--only", "row_softmax", "--only", "scale_relu", "--evaluations", "6", "--baseline",
             "eager", "--out", tmp_path / "results")
    rows = []
    for _ in range(8):
        process = kw.start(*words)
        time.sleep(chance.uniform(0.5, 9))
        process.kill()
        process.communicate()
        journal = tmp_path / "results" / "results.json"
        now = json.loads(journal.read_text())["rows"] if journal.exists() else []
        assert [row for row in now if row in rows] == rows
        rows = now
    ended = kw(*words, "--json")
    done = ended.json["suite"]["rows"]
    assert {row["problem"]: row["outcome"] for row in done} == {"matvec": "passed", "row_softmax": "passed", "scale_relu": "passed"}, ended
    assert [row for row in done if row in rows] == rows
    assert all(row["evaluations"] == 6 for row in done)
