"""--time and Ctrl-C hold wherever a search happens to be; steps that read one another several times do not grow beyond measure."""

import pathlib
import signal
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

from cli import NOT_PASSED, PASSED, problem_text  # noqa: E402
from cli import kw, shared_cache  # noqa: E402, F401: fixtures

QUICK = ("--baseline", "eager")

HEAT = """
import torch

class Model(torch.nn.Module):
    def forward(self, u):
        for _ in range(STEPS):
            STEP
        return u

def get_inputs():
    return [torch.rand(48, 64)]

def get_init_inputs():
    return []
"""
STEPS = {
    "slices": """inner = u[1:-1, 1:-1]
            inner = inner + 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * inner)
            u = torch.nn.functional.pad(inner, (1, 1, 1, 1))""",
    "rolls": "u = u + 0.1 * (u.roll(1, 0) + u.roll(-1, 0) + u.roll(1, 1) + u.roll(-1, 1) - 4 * u)",
}


@pytest.mark.parametrize("form", STEPS)
def test_a_heat_equation_is_searched(kw, tmp_path, form):
    problem = tmp_path / "heat.py"
    problem.write_text(HEAT.replace("STEPS", "8").replace("STEP", STEPS[form]))
    run = kw("optimize", problem, "--evaluations", "3", "--seed", "2", *QUICK, "--out", tmp_path / "k.cpp", "--json")
    assert run.status == PASSED, run
    assert run.json["run"]["confirmed"], run


def test_a_time_that_is_too_short_ends_the_run(kw, tmp_path):
    """PyTorch alone takes longer to import."""
    run = kw("optimize", "problems/scale_relu.py", "--time", "0.5s", *QUICK, "--out", tmp_path / "k.cpp", "--json")
    assert run.status == NOT_PASSED, run
    assert run.json["error"]["kind"] == "stopped"
    assert "the time is up" in run.json["error"]["message"]


def slow_to_describe(folder):
    """Its inputs take an hour."""
    problem = folder / "slow.py"
    problem.write_text("import time\n" + problem_text().replace("def get_inputs():", "def get_inputs():\n    time.sleep(3600)"))
    return problem


def test_time_holds_while_the_oracle_describes(kw, tmp_path):
    run = kw("optimize", slow_to_describe(tmp_path), "--time", "12s", "--out", tmp_path / "k.cpp", "--json")
    assert run.status == NOT_PASSED, run
    assert run.json["error"]["kind"] == "stopped"


def test_the_first_interrupt_ends_a_run_that_has_not_begun(kw, tmp_path):
    busy = kw.start("optimize", slow_to_describe(tmp_path), "--out", tmp_path / "k.cpp")
    time.sleep(8)
    busy.send_signal(signal.SIGINT)
    ended = kw.finish(busy)
    assert ended.status == NOT_PASSED, ended
    assert "interrupted" in ended.err, ended
