"""The loop: a request in, one answer out, whatever happens in between. It never dies of a problem."""

import gc
import logging
import os
import platform
import re
import sys
import warnings

import torch

from kw_oracle import PROTOCOL
from kw_oracle.baseline import Baselines
from kw_oracle.describe import decompose, describe
from kw_oracle.device import GpuPlace
from kw_oracle.distributions import DISTRIBUTIONS
from kw_oracle.errors import OracleError, bad_request, one_line
from kw_oracle.fits import check_fits
from kw_oracle.loading import forget_problems, fresh_environment
from kw_oracle.materialise import PRECISIONS, Order, materialise
from kw_oracle.nearby import nearby_noise
from kw_oracle.prepared import LastPrepared
from kw_oracle.protocol import encode, field, parse_request, seed_field
from kw_oracle.reducing import reduce
from kw_oracle.scaling import scale
from kw_oracle.sample import sample
from kw_oracle.signature import signature


def fitting(request: dict) -> str:
    """The problem's file, where it can be run on this machine."""
    file = field(request, "problem", str)
    check_fits(file)
    return file


class Server:
    def __init__(self, answers):
        self.answers_ = answers
        self.baselines_ = Baselines()
        self.prepared_ = LastPrepared()
        self.threads_ = torch.get_num_threads()
        self.operations_ = {
            "hello": self.hello,
            "describe": self.describe,
            "decompose": self.decompose,
            "scale": self.scale,
            "reduce": self.reduce,
            "signature": self.signature,
            "sample": self.sample,
            "materialise": self.materialise,
            "nearby": self.nearby,
            "baseline_load": self.baseline_load,
            "baseline_block": self.baseline_block,
            "baseline_unload": self.baseline_unload,
        }

    def handle(self, line: str) -> None:
        request_id = None
        try:
            request = parse_request(line)
            request_id = request.get("id")
            if not isinstance(request_id, (int, str)):
                request_id = None
                raise bad_request("a request needs an 'id'", "use an integer or a string")
            operation = self.operations_.get(str(request.get("op")))
            if operation is None:
                raise bad_request(f"unknown op {request.get('op')!r}"[:200], "use one of " + ", ".join(self.operations_))
            with fresh_environment(self.threads_):
                result = operation(request, lambda text: self.send(id=request_id, event="progress", message=text))
            self.send(id=request_id, ok=True, result=result)
        except OracleError as error:
            self.fail(request_id, error.kind, error.message, error.hint)
        except (KeyboardInterrupt, BrokenPipeError):
            raise
        except BaseException as error:  # noqa: BLE001: the client gets an answer to every request
            self.fail(request_id, "internal", f"{type(error).__name__}: {one_line(error)}", "this is a fault of the oracle")
        finally:
            forget_problems(keep=self.baselines_.modules() | self.prepared_.modules())

    def fail(self, request_id, kind: str, message: str, hint: str) -> None:
        self.send(id=request_id, ok=False, error={"kind": kind, "message": message, "hint": hint})

    def send(self, **message) -> None:
        self.answers_.write(encode(message) + "\n")
        self.answers_.flush()

    def hello(self, _request: dict, _progress) -> dict:
        return {
            "protocol": PROTOCOL,
            "python": platform.python_version(),
            "torch": str(torch.__version__),
            "threads": self.threads_,
            "pid": os.getpid(),
        }

    def describe(self, request: dict, progress) -> dict:
        return describe(fitting(request), progress)

    def decompose(self, request: dict, progress) -> dict:
        operations = field(request, "operations", list)
        if not operations or not all(isinstance(operation, str) for operation in operations):
            raise bad_request("the field 'operations' has to be a list of one or more operations of the problem's graph")
        return decompose(fitting(request), operations, progress)

    def scale(self, request: dict, progress) -> dict:
        limits = {name: field(request, name, float, 0.0) for name in ("seconds", "bytes")}
        if min(limits.values()) < 0 or not any(limits.values()):
            raise bad_request("scale needs 'seconds' or 'bytes', above 0")
        return scale(field(request, "problem", str), limits["seconds"], limits["bytes"], progress)

    def reduce(self, request: dict, progress) -> dict:
        work = field(request, "work", float)
        if work <= 0:
            raise bad_request("reduce needs 'work', above 0")
        return reduce(field(request, "problem", str), work, progress)

    def signature(self, request: dict, progress) -> dict:
        return signature(fitting(request), progress)

    def sample(self, request: dict, progress) -> dict:
        return sample(fitting(request), field(request, "precision", str, "float32", PRECISIONS), progress)

    def materialise(self, request: dict, progress) -> dict:
        order = Order(
            problem=fitting(request),
            seed=seed_field(request, "seed"),
            distribution=field(request, "distribution", str, "given", DISTRIBUTIONS),
            weights=field(request, "weights", str, "given", ("given", "fresh", "seeded")),
            weights_seed=seed_field(request, "weights_seed", 0),
            folder=field(request, "folder", str),
            precision=field(request, "precision", str, "float32", PRECISIONS),
        )
        return materialise(order, progress, self.prepared_)

    def nearby(self, request: dict, progress) -> dict:
        return nearby_noise(fitting(request), field(request, "folder", str),
                            field(request, "precision", str, "float32", PRECISIONS), progress)

    def baseline_load(self, request: dict, progress) -> dict:
        self.prepared_.forget()  # its memory: a baseline has its own
        folders = field(request, "folders", list)
        if not folders or not all(isinstance(folder, str) for folder in folders):
            raise bad_request("the field 'folders' has to be a list of one or more folders that materialise wrote")
        threads = field(request, "threads", int, self.threads_)
        if not 1 <= threads <= 4096:
            raise bad_request(f"the field 'threads' is {threads}", "use 1 or more")
        mode = field(request, "mode", str, "eager", ("eager", "compile"))
        alive = field(request, "outputs_alive", int, len(folders) + 1)
        if alive < 1:
            raise bad_request(f"the field 'outputs_alive' is {alive}", "use 1 or more")
        device = field(request, "device", str, "cpu")
        flush_bytes = field(request, "flush_bytes", int, 0)
        if flush_bytes < 0:
            raise bad_request(f"the field 'flush_bytes' is {flush_bytes}", "use 0 or more")
        if device != "cpu" and not re.fullmatch(r"cuda(:\d+)?", device):
            raise bad_request(f"the field 'device' is '{device}'", "use cpu, cuda, or cuda and the GPU's number as in cuda:0")
        gpu = None if device == "cpu" else GpuPlace(device, flush_bytes, field(request, "tf32", bool, False))
        return self.baselines_.load(fitting(request), folders, mode, threads, progress, alive, gpu)

    def baseline_block(self, request: dict, _progress) -> dict:
        return self.baselines_.block(
            field(request, "handle", int), field(request, "order", list), field(request, "warmup", int, 0)
        )

    def baseline_unload(self, request: dict, _progress) -> dict:
        return self.baselines_.unload(field(request, "handle", int))


def serve(requests, answers) -> None:
    warnings.simplefilter("ignore")
    logging.captureWarnings(True)
    logging.basicConfig(stream=sys.stderr, level=logging.ERROR)
    server = Server(answers)
    gc.collect()
    gc.freeze()  # PyTorch's own objects stay: collecting around a timing gets quick
    for line in requests:
        if line.strip():
            server.handle(line)
