"""make check runs what a change can touch, nearest first, and nothing that it cannot."""

import importlib.machinery
import importlib.util
import sys

import pytest
from project import ROOT


@pytest.fixture(scope="module")
def check():
    loader = importlib.machinery.SourceFileLoader("kw_check", str(ROOT / "tools" / "check"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("kw_check", loader))
    sys.modules["kw_check"] = module  # dataclasses look their module up
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    loader.exec_module(module)
    sys.dont_write_bytecode = before
    return module


def distances(check, *changed):
    units = check.gtest_units({}) + check.pytest_units({}) + check.judged_units({})
    for unit in units:
        check.set_distance(unit, list(changed), check.rooms_used())
    return {unit.name: unit.distance for unit in units}


def test_a_room_reaches_its_own_suites_first_and_those_above_it(check):
    near = distances(check, "src/archive/runs.cpp")
    assert near["correctness/archive/runs_test"] == 0
    assert near["correctness/serve/host_check_test"] == 1
    assert near["correctness/vgpu/checks_test"] == check.FAR
    assert near["correctness/playbook/algebra_test"] == check.FAR
    assert near["oracle/test_describe"] == check.FAR


def test_what_a_suite_is_about_comes_before_what_only_links_it(check):
    near = distances(check, "src/export/pieces.cpp")
    assert near["correctness/cli/test_export"] < near["correctness/cli/test_bench"] < check.FAR
    assert distances(check, "src/runner/slots.cpp")["redteam.0"] == 1
    assert distances(check, "oracle/kw_oracle/ties.py")["oracle/test_ties"] == 1


def test_a_changed_test_runs_itself_and_not_its_neighbours(check):
    near = distances(check, "tests/correctness/archive/runs_test.cpp", "tests/oracle/test_ties.py")
    assert near["correctness/archive/runs_test"] == near["oracle/test_ties"] == 0
    assert near["correctness/archive/migrations_test"] == check.FAR
    assert near["oracle/test_describe"] == check.FAR


def test_the_nearest_and_shortest_fit_first(check):
    def unit(name, distance, seconds):
        return check.Unit(name, name, [], "", [], seconds, distance)

    units = [unit("far", 2, 1), unit("long", 0, 500), unit("near", 0, 30), unit("untouched", check.FAR, 1), unit("next", 1, 60)]
    assert [each.name for each in check.choose(units, 50)] == ["near", "far"]
    assert [each.name for each in check.choose(units, 60)] == ["near", "next", "far"]


def test_every_suite_that_a_row_is_about_is_there(check):
    names = [unit.file for unit in check.gtest_units({}) + check.pytest_units({}) + check.judged_units({})]
    for prefix, about in check.ABOUT.items():
        assert any(name.startswith(prefix) for name in names), f"no suite begins with {prefix}"
        for words in about:
            assert (ROOT / words).exists(), f"{prefix} is about {words}, which is not there"
