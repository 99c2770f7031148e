"""Problems that do not fit into memory are refused by arithmetic."""

import pathlib

import pytest
import torch

from kw_oracle import fits
from kw_oracle.errors import OracleError
from oracle_rig import problem_text

GIGA = 10**9


def need(**parts) -> fits.Need:
    return fits.need_of(pathlib.Path("problem.py"), problem_text(**parts).encode())


def test_what_is_counted():
    counted = need(init="self.l = nn.Linear(100, 50)", forward="return torch.relu(self.l(x))", inputs="[torch.rand(10, 100)]")
    weights, inputs, values = 4 * (5000 + 50), 4 * 1000, 2 * 4 * 500
    assert counted == fits.Need(weights, inputs, values, 2 * weights + 4 * inputs + 2 * values)
    half = need(forward="return x + 1", inputs="[torch.rand(1000).half(), torch.arange(10)]", arguments="x, i")
    assert (half.inputs, half.values, half.double) == (2000 + 80, 2000, 2 * (8000 + 80) + 8000)


@pytest.mark.parametrize("parts", [
    dict(forward="return x * float(x.sum())", inputs="[torch.rand(1000)]"),
    dict(forward="return x", inputs="[torch.rand(1000)]", init="raise OSError"),
    dict(forward="y = x\nfor i in range(10**7):\n    y = y + 1\nreturn y", inputs="[torch.rand(1000)]"),
])
def test_what_cannot_be_told_counts_as_nothing(parts, monkeypatch):
    monkeypatch.setattr(fits, "_SECONDS", 0.1)
    assert need(**parts).inputs == 4000


HUGE = ("batch_size = 4096\nwidth = 1 << 20\n" + problem_text(forward="return torch.relu(x) + 1", inputs="[torch.rand(batch_size, width)]"))


def test_a_problem_that_does_not_fit_is_refused_at_once(process, tmp_path):
    path = tmp_path / "huge.py"
    path.write_text(HUGE)
    for request in (dict(op="describe"), dict(op="materialise", seed=1, folder=str(tmp_path / "set")),
                    dict(op="baseline_load", folders=[str(tmp_path)]), dict(op="signature"), dict(op="sample"),
                    dict(op="nearby", folder=str(tmp_path)), dict(op="decompose", operations=["aten.relu.default"])):
        error = process.ask(problem=str(path), **request)["error"]
        assert error["kind"] == "unsupported", request
        assert "asks for 155 GB" in error["message"] and "GB are free here" in error["message"], error
        assert "batch_size" in error["hint"] and "line 1" in error["hint"], error
    assert not (tmp_path / "set").exists()


def test_the_batch_that_is_named_fits(write, monkeypatch):
    monkeypatch.setattr(fits, "free_bytes", lambda: 10 * GIGA)
    problem = write(HUGE)
    with pytest.raises(OracleError) as refused:
        fits.check_fits(problem)
    assert "batch_size = 256 in place of 4096" in refused.value.hint
    fits.check_fits(write(HUGE.replace("4096", "256")))
    with pytest.raises(OracleError):
        fits.check_fits(write(HUGE.replace("4096", "512")))


def test_without_a_batch_other_ways_are_named(write, monkeypatch):
    monkeypatch.setattr(fits, "free_bytes", lambda: 1000)
    with pytest.raises(OracleError) as refused:
        fits.check_fits(write(forward="return x + 1", inputs="[torch.rand(40, 40)]"))
    assert "give it smaller shapes" in refused.value.hint


def test_what_is_wrong_otherwise_is_told_as_always(process, tmp_path):
    path = tmp_path / "broken.py"
    path.write_text("import torch\nno python\n")
    assert "broken.py:2" in process.ask("describe", problem=str(path))["error"]["message"]
    assert "cannot be read" in process.ask("describe", problem=str(tmp_path / "none.py"))["error"]["message"]


@pytest.mark.parametrize("files, free", [
    ({"proc/meminfo": "MemTotal: 9 kB\nMemAvailable:    2000 kB\n"}, 2000 * 1024),
    ({"proc/meminfo": "MemAvailable: 2000 kB\n", "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": "500000\n",
      "sys/fs/cgroup/a/memory.current": "450000\n", "sys/fs/cgroup/a/memory.stat": "anon 1\ninactive_file 20000\n",
      "sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/b/memory.current": "1\n"}, 70000),
    ({}, float("inf")),
])
def test_memory_that_is_free(tmp_path, files, free):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert fits.free_bytes(tmp_path) == free


def test_nothing_is_left_on_the_meta_device(write):
    fits.check_fits(write(init="self.l = nn.Linear(3, 3)", forward="return self.l(x)", inputs="[torch.rand(2, 3)]"))
    assert torch.rand(2).device.type == "cpu"
