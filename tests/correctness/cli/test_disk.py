"""What is kept on the disk, and how it goes: the cache, and runs that are deleted."""

import os
import pathlib
import pty
import shutil
import sqlite3
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

from cli import BAD_INPUT, BINARY, NOT_PASSED, PASSED, TESTS, Kernelwright, assert_refused  # noqa: E402
from documented import assert_documented  # noqa: E402
from cli import kw, shared_cache  # noqa: E402, F401: fixtures

PROBLEM, KERNEL = "problems/scale_relu.py", "honest/scale_relu_plain.cpp"


@pytest.fixture
def own(tmp_path) -> Kernelwright:
    """With a cache of its own, too; nothing in it has been measured."""
    return Kernelwright(tmp_path / "home", tmp_path / "cache")


@pytest.fixture
def measured(own, shared_cache) -> Kernelwright:
    """The same on a machine whose ceilings are known."""
    shutil.copytree(shared_cache / "machines", own.cache / "machines")
    return own


def fill(kw, name, hours, size=1000):
    folder = kw.cache / "tensors" / name
    (folder / "given-given-0").mkdir(parents=True)
    (folder / "given-given-0" / "inputs.safetensors").write_bytes(b"x" * size)
    then = time.time() - 3600 * hours
    os.utime(folder, (then, then))
    return folder


# cache

def test_cache_lists_what_is_there(own):
    empty = own("cache")
    assert empty.status == PASSED and "at most 4" in empty.out, empty
    fill(own, "matmul-0123/7-float32", 5), fill(own, "matmul-0123/8-float32", 2)
    told = own("cache", "--json")
    assert told.status == PASSED and told.err == "", told
    assert_documented(told.json, "cache")
    assert [entry["name"] for entry in told.json["entries"]] == ["matmul-0123"] * 2
    for entry in told.json["entries"]:
        assert_documented(entry, "cache.entry")
        assert entry["bytes"] == 1000 and entry["in_use"] is False
    assert told.json["bytes"] == 2000 and told.json["limit_bytes"] == 4e9
    text = own("cache").out
    assert "matmul" in text and "2 h" in text and str(own.cache) in text


def test_cache_keeps_its_limit(own):
    old, new = fill(own, "a-1/7-float32", 5, 3000), fill(own, "b-1/8-float32", 2, 3000)
    limited = own("cache", "--limit", "4kB", "--json")
    assert limited.status == PASSED and limited.json["removed"] == 1, limited
    assert not old.exists() and new.exists()
    assert own("cache", "--json").json["limit_bytes"] == 4000, "it is kept"
    assert own("cache", "--json", KERNELWRIGHT_CACHE_GB="1").json["limit_bytes"] == 1e9
    assert_refused(own("cache", "--limit", "2GB", KERNELWRIGHT_CACHE_GB="1"), "KERNELWRIGHT_CACHE_GB")


def test_cache_clears_what_nobody_uses(own):
    folder = fill(own, "a-1/7-float32", 5)
    (folder / ".making.abc").mkdir()
    cleared = own("cache", "--clear", "--json")
    assert cleared.status == PASSED and cleared.json["removed"] == 1 and cleared.json["entries"] == [], cleared
    assert not folder.exists()


@pytest.mark.parametrize("size", ["", "4", "GB", "-1GB", "0GB", "4 s", "10ms", "nan GB", "much"])
def test_cache_refuses_what_is_no_size(own, size):
    assert_refused(own("cache", f"--limit={size}") if size else own("cache", "--limit", ""), "--limit")


def test_a_run_keeps_what_it_uses_while_others_clear(measured):
    """A verification goes on, and passes, while another process clears the cache again and again."""
    process = measured.start("verify", PROBLEM, KERNEL, "--fresh", "--json")
    in_use = 0
    while process.poll() is None:
        in_use += len(measured("cache", "--clear", "--json").json["entries"])
    run = measured.finish(process)
    assert run.status == PASSED and in_use > 0, run
    assert measured("cache", "--clear", "--json").json["entries"] == []


def test_a_killed_verification_leaves_nothing_half_made(measured):
    process = measured.start("verify", PROBLEM, KERNEL, "--fresh")
    deadline = time.time() + 120
    while not (left := list(measured.cache.glob("tensors/*/*/.making*"))) and time.time() < deadline and process.poll() is None:
        time.sleep(0.002)
    process.kill()
    process.communicate()
    assert left, "nothing was being made"
    deadline = time.time() + 30  # its oracle ends by itself
    while any(folder.exists() for folder in left) and time.time() < deadline:
        assert measured("cache").status == PASSED
    assert not any(folder.exists() for folder in left)


# runs --delete

@pytest.fixture(scope="module")
def archive_of_two(shared_cache, tmp_path_factory):
    kw = Kernelwright(tmp_path_factory.mktemp("two"), shared_cache)
    for seed in ("5", "6"):
        run = kw("optimize", PROBLEM, "--evaluations", "3", "--seed", seed, "--baseline", "eager", "--out", kw.home / "k.cpp")
        assert run.status == PASSED, run
    return kw


@pytest.fixture
def two(archive_of_two, tmp_path) -> Kernelwright:
    """Two runs, to do with as a test likes."""
    copied = Kernelwright(tmp_path / "home", archive_of_two.cache)
    copied.home.mkdir()
    with sqlite3.connect(archive_of_two.home / "archive.db") as source, sqlite3.connect(copied.home / "archive.db") as target:
        source.backup(target)
    return copied


def rows(kw, table, run):
    with sqlite3.connect(f"file:{kw.home / 'archive.db'}?mode=ro", uri=True) as connection:
        column = "id" if table == "runs" else "run"
        return connection.execute(f"SELECT count(*) FROM {table} WHERE {column} = ?", (run,)).fetchone()[0]


def test_the_first_search_has_rows_in_the_ledger(two):
    assert rows(two, "ledger", 1) > 0, "its kernels differ in strategies"
    assert two("ledger", "--json").json


def test_a_deleted_run_leaves_nothing_but_verdicts(two):
    evaluations = two.evaluations()
    deleted = two("runs", "--delete", "1", "--yes")
    assert deleted.status == PASSED and "deleted run 1 (scale_relu)" in deleted.out, deleted
    for table in ("runs", "individuals", "ledger", "lessons", "exchanges"):
        assert rows(two, table, 1) == 0, table
    assert [run["id"] for run in two("runs", "--json").json] == ["2"]
    assert two("show", "2").status == PASSED and two("ledger").status == PASSED
    assert_refused(two("show", "1"), "no run 1")
    assert two.evaluations() == evaluations
    json = two("runs", "--delete", "2", "--yes", "--json")
    assert json.status == PASSED and json.json == {"deleted": ["2"]}, json
    assert two("ledger").out.startswith("the ledger is empty")
    run = two("optimize", PROBLEM, "--evaluations", "2", "--baseline", "eager", "--out", two.home / "k.cpp", "--json")
    assert run.json["run"]["id"] == "3", "numbers are not given again"


def test_deleting_asks_where_somebody_can_answer(two):
    assert_refused(two("runs", "--delete", "1"), "run 1 (scale_relu)", "--yes")
    assert two("runs", "--delete", "1", "--json").status == BAD_INPUT
    for answer, status, left in (("n\n", NOT_PASSED, 1), ("\n", NOT_PASSED, 1), ("y\n", PASSED, 0)):
        ours, theirs = pty.openpty()
        process = subprocess.Popen([str(BINARY), "runs", "--delete", "1"], cwd=TESTS, env=two.environment(), text=True, stdin=theirs,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        os.close(theirs)
        os.write(ours, answer.encode())
        out, err = process.communicate(timeout=60)
        os.close(ours)
        assert process.returncode == status and "Delete run 1 (scale_relu)" in err, (out, err)
        assert rows(two, "runs", 1) == left


@pytest.mark.parametrize("words, says", [(("9",), "no run 9"), (("1", "9"), "no run 9"), (("x",), "no run"), (("-1",), "-1"), (("",), "no run")])
def test_deleting_what_is_not_there_changes_nothing(two, words, says):
    assert_refused(two("runs", "--yes", "--delete", *words), says)
    assert rows(two, "runs", 1) == rows(two, "runs", 2) == 1


def test_a_run_under_way_is_not_deleted(two):
    process = two.start("optimize", PROBLEM, "--time", "200s", "--baseline", "eager", "--out", two.home / "k.cpp")
    deadline = time.time() + 100
    while not rows(two, "runs", 3) and time.time() < deadline:
        time.sleep(0.05)
    while rows(two, "individuals", 3) == 0 and time.time() < deadline:
        time.sleep(0.05)
    assert_refused(two("runs", "--delete", "3", "--yes"), "run 3 is under way")
    process.kill()
    process.communicate()
    # It was killed and can be resumed, with what the other two had taught it.
    assert_refused(two("runs", "--delete", "1", "--yes"), "run 3", "--resume 3")
    for _ in range(50):  # until all of its processes are gone
        if (deleted := two("runs", "--delete", "1", "3", "--yes")).status == PASSED:
            break
        time.sleep(0.1)
    assert deleted.status == PASSED, deleted
    assert rows(two, "runs", 2) == 1 and rows(two, "runs", 3) == 0
