"""Baselines on a GPU: with the processor in its place, and what can be seen of the move there without one."""

import pytest
import torch
from oracle_rig import problem_text
from kw_oracle.device import GpuPlace
from kw_oracle.errors import OracleError
from kw_oracle.loading import load_problem
from kw_oracle.subject import Subject
from test_baseline import sets  # noqa: F401: a fixture

TELLING = problem_text(
    forward="SEEN.append((torch.backends.cudnn.allow_tf32, torch.get_float32_matmul_precision()))\nreturn x + 1",
    inputs="[torch.randn(4)]") + "SEEN = []\n"


@pytest.fixture
def on_processor(monkeypatch):
    monkeypatch.setenv("KERNELWRIGHT_TORCH_DEVICE", "cpu")


@pytest.mark.parametrize("mode", ["eager", "compile"])
def test_each_call_is_timed_after_a_flush(on_processor, write, sets, mode):  # noqa: F811
    from kw_oracle.server import Server

    path = write(forward="return torch.relu(x) * 2", inputs="[torch.randn(8, 8)]")
    server = Server(None)
    quiet = lambda message: None  # noqa: E731
    loaded = server.baseline_load({"problem": path, "folders": sets(path), "mode": mode, "threads": 1, "device": "cuda:0",
                                   "flush_bytes": 1 << 16}, quiet)
    place = server.baselines_.find(loaded["handle"]).gpu
    seconds = server.baseline_block({"handle": loaded["handle"], "order": [0, 1, 2], "warmup": 2}, quiet)["seconds"]
    assert len(seconds) == 3 and all(0 < each < 1 for each in seconds)
    assert place.flushed_.numel() == 1 << 16 and (place.flushed_ == 5).all()  # the fifth call's pattern, everywhere


@pytest.mark.parametrize("tf32", [False, True])
def test_tf32_is_the_contracts_choice(on_processor, write, sets, tf32):  # noqa: F811
    from kw_oracle.baseline import Baselines

    path = write(TELLING)
    before = (torch.backends.cudnn.allow_tf32, torch.get_float32_matmul_precision())
    baselines = Baselines()
    handle = baselines.load(path, sets(path), "eager", 1, lambda message: None, gpu=GpuPlace("cuda", 0, tf32))["handle"]
    seen = baselines.find(handle).subject.problem.module.SEEN
    seen.clear()
    baselines.block(handle, [0], 0)
    assert seen == [(tf32, "high" if tf32 else "highest")]
    assert (torch.backends.cudnn.allow_tf32, torch.get_float32_matmul_precision()) == before


def test_everything_moves_with_its_strides(monkeypatch, write):
    path = write(problem_text(
        init="self.l = nn.Linear(4, 4)\nself.register_buffer('b', torch.ones(2))\nself.plain = torch.ones(3)\n"
             "self.several = [torch.ones(2), torch.ones(2)]",
        forward="return self.l(x)", inputs="[torch.randn(4, 6).t()[:, :4]]"))
    subject = Subject(load_problem(path))
    given = subject.inputs(0)
    monkeypatch.setenv("KERNELWRIGHT_TORCH_DEVICE", "meta")
    monkeypatch.setattr(torch.cuda, "Event", lambda enable_timing: None)
    place = GpuPlace("cuda", 0, False)
    place.move(subject)
    assert {entry.name: entry.get().device.type for entry in subject.entries} == dict.fromkeys(
        ["l.weight", "l.bias", "b", "plain", "several.0", "several.1"], "meta")
    moved = given.mapped(place.tensor).tensors()["x"]
    assert moved.device.type == "meta" and moved.stride() == given.tensors()["x"].stride()


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_without_a_gpu_it_says_so():
    with pytest.raises(OracleError) as caught:
        GpuPlace("cuda", 0, False)
    assert caught.value.kind == "unsupported" and "cannot use the GPU" in caught.value.message


def test_other_devices_are_refused():
    from kw_oracle.server import Server

    with pytest.raises(OracleError) as caught:
        Server(None).baseline_load({"problem": "p.py", "folders": ["f"], "device": "cuda; import os"}, None)
    assert caught.value.kind == "bad_request" and "device" in caught.value.message
