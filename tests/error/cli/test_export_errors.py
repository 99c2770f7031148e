"""Exports that cannot be made: a message that says what to do, and nothing written."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

from cli import Kernelwright, assert_refused  # noqa: E402
from cli import shared_cache  # noqa: E402, F401: fixtures
from exported import copy_of_problem, plant_winner  # noqa: E402

FOR_GPUS = ("cuda-c", "cute", "triton", "tilelang")
FORMS = ("torch", "cpp", "kernelbench", "hub")


@pytest.fixture(scope="module")
def planted(shared_cache, tmp_path_factory):
    """Runs with a winner that passed, one that did not, and some in other languages."""
    folder = tmp_path_factory.mktemp("planted")
    kw = Kernelwright(folder / "home", shared_cache)
    problem = copy_of_problem("scale_relu.py", folder)
    runs = {"good": plant_winner(kw, problem, "scale_relu_plain.cpp"), "failed": plant_winner(kw, problem, "scale_relu_plain.cpp", verdict="wrong"),
            **{dsl: plant_winner(kw, problem, "scale_relu_plain.cpp", dsl=dsl) for dsl in (*FOR_GPUS, "opencl")}}
    return kw, folder, runs, problem


def test_what_is_asked_for_has_to_be_there(planted, tmp_path):
    kw, _, runs, _ = planted
    assert_refused(kw("export", "999", "--as", "torch", folder=tmp_path), "no run 999")
    assert_refused(kw("export", runs["good"], "--as", "torch", "--kernel", "7", folder=tmp_path), "no kernel 7")
    assert_refused(kw("export", runs["failed"], "--as", "torch", folder=tmp_path), "did not pass", "wrong")
    wrong = kw("export", runs["good"], "--as", "wheel", folder=tmp_path)
    assert wrong.status == 2 and "wheel" in wrong.err and "torch" in wrong.err, wrong
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("dsl", FOR_GPUS)
def test_a_kernel_that_never_ran_on_its_machine_is_refused(planted, tmp_path, dsl):
    kw, _, runs, _ = planted
    for form in FORMS:
        assert_refused(kw("export", runs[dsl], "--as", form, folder=tmp_path), dsl, "a100", "estimated", f"kernelwright show {runs[dsl]} --kernel 0")
    assert list(tmp_path.iterdir()) == []


def test_a_kernel_in_opencl_is_refused(planted, tmp_path):
    kw, _, runs, _ = planted
    for form in FORMS:
        assert_refused(kw("export", runs["opencl"], "--as", form, folder=tmp_path), "OpenCL C", "exports are packages around C++")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["Rms", "2fast", "a-b", "torch", "class", "x", "ends_", "../up"])
def test_names_that_name_nothing(planted, tmp_path, name):
    kw, _, runs, _ = planted
    assert_refused(kw("export", runs["good"], "--as", "torch", "--name", name, folder=tmp_path), f"--name {name}")


def test_places_that_are_taken_or_missing(planted, tmp_path):
    kw, _, runs, _ = planted
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine.txt").write_text("mine")
    assert_refused(kw("export", runs["good"], "--as", "torch", "--out", tmp_path / "taken"), "there already", "--force")
    assert_refused(kw("export", runs["good"], "--as", "torch", "--out", tmp_path / "no" / "such"), "no folder")
    assert_refused(kw("export", runs["good"], "--as", "kernelbench", "--out", tmp_path / "taken", "--force"), "is a folder")
    assert [path.name for path in tmp_path.rglob("*")] == ["taken", "mine.txt"]


def test_the_problem_has_to_be_the_one_that_was_searched(planted, tmp_path):
    kw, _, runs, problem = planted
    text = problem.read_text()
    try:
        problem.write_text(text + "\n# another\n")
        assert_refused(kw("export", runs["good"], "--as", "torch", folder=tmp_path), "has changed since")
        problem.unlink()
        assert_refused(kw("export", runs["good"], "--as", "torch", folder=tmp_path), "cannot be read")
    finally:
        problem.write_text(text)
    assert list(tmp_path.iterdir()) == []
