"""The baselines: the right weights, inputs and strides, one time per call."""

import pytest
from oracle_rig import problem_text
from kw_oracle.baseline import Baselines
from kw_oracle.errors import OracleError

QUIET = {"progress": lambda message: None}

# Writes down what each call saw, so that a test can look at it.
WATCHED = problem_text(
    forward="SEEN.append((x.stride(), float(x.sum()), float(self.l.weight.sum()), s, self.training, torch.is_grad_enabled(),"
            " torch.get_num_threads()))\nreturn self.l(x) * s",
    arguments="x, s", init="self.l = nn.Linear(4, 4)", inputs="[torch.randn(4, 6).t()[:, :4], 2.0]") + "SEEN = []\n"


@pytest.fixture
def sets(write, tmp_path):
    from kw_oracle.materialise import Order, materialise

    def makes(problem: str, **choices) -> list[str]:
        folders = [str(tmp_path / f"base{seed}") for seed in range(3)]
        for seed, folder in enumerate(folders):
            order = {"distribution": "shifted", "weights": "fresh", "weights_seed": 3, "precision": "float32", **choices}
            materialise(Order(problem=problem, seed=seed, folder=folder, **order), lambda message: None)
        return folders

    return makes


def test_calls_see_what_was_materialised(write, sets):
    import json
    import pathlib

    from safetensors.torch import load_file

    path = write(WATCHED)
    folders = sets(path)
    baselines = Baselines()
    handle = baselines.load(path, folders, "eager", 1, **QUIET)["handle"]
    baseline = baselines.find(handle)
    seen = baseline.subject.problem.module.SEEN
    seen.clear()
    answer = baselines.block(handle, [2, 0, 1, 1], warmup=3)
    assert len(answer["seconds"]) == 4 and all(seconds > 0 for seconds in answer["seconds"])
    assert len(seen) == 7
    for index, call in zip([2, 0, 1, 1], seen[3:]):
        stored = load_file(folders[index] + "/inputs.safetensors")["x"]
        weight = load_file(folders[0] + "/weights.safetensors")["l.weight"]
        number = json.loads(pathlib.Path(folders[index], "set.json").read_text())["scalars"]["s"]
        stride, total, weights, scalar, training, grad, threads = call
        assert stride == (1, 6) and scalar == number and (training, grad, threads) == (False, False, 1)
        view = stored.as_strided((6, 4), (1, 6))
        assert total == pytest.approx(float(view.sum()), rel=1e-5) and weights == pytest.approx(float(weight.sum()), rel=1e-5)
    assert len({call[1] for call in seen}) == 3
    assert baselines.unload(handle) == {}
    with pytest.raises(OracleError):
        baselines.block(handle, [0], 0)


@pytest.mark.parametrize("order, warmup", [([], 0), ([3], 0), ([-1], 0), (["0"], 0), ([True], 0), ([0], -1)])
def test_bad_blocks(write, sets, order, warmup):
    path = write(forward="return x + 1", inputs="[torch.randn(4)]")
    baselines = Baselines()
    handle = baselines.load(path, sets(path), "eager", 1, **QUIET)["handle"]
    with pytest.raises(OracleError) as caught:
        baselines.block(handle, order, warmup)
    assert caught.value.kind == "bad_request"


def test_folders_have_to_fit(write, sets, tmp_path):
    path, other = (write(forward="return x + 1", inputs=f"[torch.randn({n})]") for n in (4, 5))
    with pytest.raises(OracleError) as caught:
        Baselines().load(path, [str(tmp_path / "nothing")], "eager", 1, **QUIET)
    assert caught.value.kind == "bad_request" and "nothing" in caught.value.message
    with pytest.raises(OracleError) as caught:
        Baselines().load(other, sets(path), "eager", 1, **QUIET)
    assert "another version" in caught.value.message


def test_over_the_pipe_with_compile(process, write, sets):
    path = write(forward="return torch.relu(x) * s", arguments="x, s", inputs="[torch.randn(8, 8), 2.0]")
    folders = sets(path)
    for mode in ("eager", "compile"):
        loaded = process.ask("baseline_load", problem=path, folders=folders, mode=mode, threads=1)
        assert loaded["ok"], loaded
        assert (loaded["result"]["compile_seconds"] > 0) == (mode == "compile")
        handle = loaded["result"]["handle"]
        assert len(process.ask("baseline_block", handle=handle, order=[0, 1, 2], warmup=1)["result"]["seconds"]) == 3
        assert process.ask("baseline_unload", handle=handle)["ok"]


def test_compile_that_fails_is_a_sentence(write, sets, monkeypatch):
    import torch

    def broken(model):
        def call(*args):
            raise RuntimeError("no compiler\nat all")
        return call

    path = write(forward="return x + 1", inputs="[torch.randn(4)]")
    folders = sets(path)
    monkeypatch.setattr(torch, "compile", broken)
    with pytest.raises(OracleError) as caught:
        Baselines().load(path, folders, "compile", 1, **QUIET)
    assert caught.value.kind == "unsupported" and "no compiler at all" in caught.value.message
