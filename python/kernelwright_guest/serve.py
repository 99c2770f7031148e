"""The runner's protocol (src/runner/protocol.h) spoken by Python: loads ModelNew, gives it weights, calls it, tells times and where outputs are."""

import copy
import faulthandler
import gc
import json
import math
import os
import shutil
import signal
import socket
import sys
import time

import torch
from torch.utils import _pytree as pytree

from kw_seeded import is_running

from . import extensions, virtual_cuda
from .candidate import Candidate, Fault, fault_of, one_line, seed_everything
from .confine import Blank
from .memory import Buffers
from .operators import Watch, line_in, own_operators, take_away

_CONTROL, _SPEC, _DATA = 3, 4, 5
_MOST = 1 << 17


class Control:
    """The socket to the evaluator; a message is one JSON object."""

    def __init__(self):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, 0, fileno=_CONTROL)

    def tell(self, message):
        text = json.dumps(message).encode()
        self._socket.send(text if len(text) <= _MOST else json.dumps({"event": "nonsense"}).encode())

    def hear(self):
        """An order, and the descriptor of the inputs that come with it, or None."""
        text, descriptors, _flags, _address = socket.recv_fds(self._socket, _MOST, 1)
        if not text:
            os._exit(0)  # the evaluator is gone
        return json.loads(text), descriptors[0] if descriptors else None


class Guest:
    def __init__(self, spec, control):
        self._spec, self._control, self._python = spec, control, spec["python"]
        self._buffers = Buffers(spec, _DATA)
        self._described = self._python["arguments"]
        self._inputs = [i for i, each in enumerate(self._described) if each["kind"] in ("input", "scalar")]
        self._outputs = [each for each in self._described if each["kind"] == "output"]
        self._candidate = Candidate(spec["object"], self._python["call"])
        self._pristine = self._model = None
        self._taken_away = self._watched = self._makes_its_own = False
        self._kept, self._before = {}, {}
        self._clock = time.perf_counter_ns
        self._device = self._is_own = self._blank = None

    def addresses(self):
        return self._buffers.regions

    def load(self):
        if self._python["triton"]:
            self._device = virtual_cuda.activate(self._python)
        extensions.import_only(self._python["extensions"])
        if self._python["blank"]:
            faulthandler.register(signal.SIGTRAP, chain=True)
            self._blank = Blank(self._python["blank"], own=os.path.dirname(self._python["extensions"]), writes=self._python["triton"])
        if not self._python["allow_torch"]:
            sys.addaudithook(self._no_way_around_pytorch())
        self._is_own = own_operators(self._python["extensions"])
        self._candidate.load()

    def _no_way_around_pytorch(self):
        """Functions of shared libraries can be called past PyTorch's dispatcher: only those of the candidate's own extensions may be."""
        own, path, tell = self._python["extensions"] + os.sep, self._candidate.path, self._control.tell

        def hook(event, args):
            if event == "ctypes.dlopen" and not str(args[0]).startswith(own):
                what = f"opens the library '{args[0]}'"
            elif event == "ctypes.dlsym" and not str(getattr(args[0], "_name", "")).startswith(own):
                what = f"looks for the function '{args[1]}'"
            else:
                return
            tell({"event": "fault", **Fault(f"the candidate {what} with ctypes", "it calls functions of its own extensions and of PyTorch",
                                            "forbidden", line_in(path)).told(self._python["file"])})
            os._exit(4)

        return hook

    def _weights(self):
        return {each["name"]: self._buffers.tensor(i, each) for i, each in enumerate(self._described)
                if each["kind"] in ("parameter", "buffer")}

    def _forbid(self, operator):
        """Called in place of an operator that does work: there is no way back into the candidate."""
        line = line_in(self._candidate.path)
        self._control.tell({"event": "operator", "name": operator, "place": f"{self._python['file']}:{line}" if line else ""})
        os._exit(4)

    def prepare(self, order):
        begin = self._clock()
        if self._pristine is None:
            self._build(order["weights_seed"], order["drawn_constants"])
            if not self._python["allow_torch"] and not self._taken_away:
                self._taken_away = True
                take_away(self._forbid, self._python["movement_is_work"], self._is_own)
                if self._blank is not None:
                    self._blank.put_in_place(self._python["extensions"])
        try:  # what a module packs at its first call belongs to the weights that it had then
            self._model = copy.deepcopy(self._pristine)
        except Exception:  # noqa: BLE001: it holds what cannot be copied
            self._model = self._pristine
        weights = self._weights()
        if weights and not self._makes_its_own:
            self._install(weights)
        return {"event": "prepared", "seconds": (self._clock() - begin) * 1e-9, "bytes": 0, "seeded": bool(weights) and self._makes_its_own}

    def _build(self, seed, drawn_constants):
        def built(seed, drawn_constants):
            return self._candidate.build(seed, self._statistics() if drawn_constants else None)

        self._pristine = built(seed, drawn_constants)
        described = [each for each in self._described if each["kind"] in ("parameter", "buffer")]
        self._makes_its_own = drawn_constants or {each["name"] for each in described} != self._pristine.state_dict().keys()
        if described and not self._makes_its_own and (packed := plain_tensors(self._pristine)):
            other = plain_tensors(built(seed + 1, True))
            self._makes_its_own = any(key not in other or not torch.equal(tensor, other[key]) for key, tensor in packed.items())

    def _statistics(self):
        """Running statistics begin as zeros and ones; a module may hold them under any name."""
        return {(1.0 if each["name"].endswith("running_var") else 0.0, math.prod(each["shape"])) for each in self._described
                if each["kind"] == "buffer" and is_running(each["name"])}

    def _install(self, weights):
        try:
            if self._python["movement_is_work"]:  # nothing can be copied any more
                for name, parameter in [*self._model.named_parameters(), *self._model.named_buffers()]:
                    parameter.data = weights[name]
            else:
                self._model.load_state_dict(weights)
        except RuntimeError as error:
            raise Fault(f"the problem's weights do not fit ModelNew: {one_line(error)}",
                        "ModelNew has parameters and buffers of Model's names and shapes, or makes its own under the same seed") from None

    def hear(self):
        """The next order but those to show inputs. What comes with such a one is put in its place, and its descriptor is closed: nothing but
        the place leads to it."""
        while True:
            order, inputs = self._control.hear()
            if inputs is not None:
                self._buffers.bring(inputs)
                os.close(inputs)
            if order["op"] != "show":
                return order
            self._control.tell({"event": "shown", "ticket": order["ticket"]})

    def rehearse(self):
        """Orders before the candidate is loaded: what taking one and answering takes is known before anything hostile is here."""
        self._model = lambda *_arguments: None
        while (order := self.hear())["op"] == "rehearse":
            done, _results = self.call({"outs": [0], "poison": False, "goes_on": True})
            self._control.tell({**done, "event": "rehearsed", "ticket": order["ticket"]})
        self._model = None
        if order["op"] != "load":
            os._exit(0)

    def _arguments(self):
        return self._candidate.arguments([self._buffers.tensor(i, self._described[i]) for i in self._inputs])

    def call(self, order):
        arguments, outs = self._arguments(), order["outs"]
        watch = None
        if order["poison"] and not self._watched:
            self._watched, watch = True, Watch(self._candidate.path, self._is_own)
        if not order["goes_on"]:
            self._before, self._kept = self._kept, {}
            seed_everything(0)
            gc.collect()
        nanoseconds, results = [], {}
        gc.disable()
        if self._device is not None:
            self._device.begin()
        try:
            with torch.no_grad():
                if watch is None:
                    self._timed(arguments, outs, nanoseconds, results)
                else:
                    with watch:
                        self._timed(arguments, outs, nanoseconds, results)
                        still = watch.mark()
        finally:
            gc.enable()
        done = {"event": "done", "nanoseconds": nanoseconds, "float_state_changed": sys.float_info.min / 2.0 == 0.0}
        if watch is not None:
            done["watched"] = {"in_force": still, "nanoseconds": nanoseconds[0],
                               "operators": sorted(watch.used.values(), key=lambda each: -each["nanoseconds"])[:20]}
        if self._device is not None:
            done["gpu"] = [self._device.end()]
        return done, results

    def _timed(self, arguments, outs, nanoseconds, results):
        clock, model = self._clock, self._model
        for out in outs:
            begin = clock()
            result = model(*arguments)
            end = clock()
            nanoseconds.append(end - begin)
            results[out] = result

    def outputs(self, results):
        """Where the outputs are. They stay alive until the next order but one, so that memory that is used again stands out; where an order
        goes on with the one before, until the next call into their slot is over."""
        told = []
        for out, result in results.items():
            leaves = [leaf for leaf in pytree.tree_flatten(result)[0] if leaf is not None]
            if len(leaves) != len(self._outputs):
                raise Fault(f"forward() returned {len(leaves)} tensors and not {len(self._outputs)}", "return what Model's forward() returns",
                            "wrong")
            self._kept[out] = [self._output(leaf, spec) for leaf, spec in zip(leaves, self._outputs)]
            told.append([out, [tensor.data_ptr() for tensor in self._kept[out]]])
        return {"event": "outputs", "outputs": told}

    @staticmethod
    def _output(leaf, spec):
        name, shape = spec["name"], tuple(spec["shape"])
        if type(leaf) not in (torch.Tensor, torch.nn.Parameter):
            raise Fault(f"forward() returned a {type(leaf).__name__} as '{name}'", "return torch.Tensor itself, with its values computed", "wrong")
        if leaf.device.type != "cpu" or leaf.layout != torch.strided:
            raise Fault(f"'{name}' is on the device '{leaf.device}' with the layout {leaf.layout}", "return a dense tensor on the CPU", "wrong")
        dtype = str(leaf.dtype).removeprefix("torch.")
        if tuple(leaf.shape) != shape or dtype != spec["dtype"]:
            raise Fault(f"'{name}' is {dtype}{list(leaf.shape)} and not {spec['dtype']}{list(shape)}",
                        "the output's shape and type are part of the answer", "wrong")
        # The values are the answer: where they lie otherwise than Model's own, they are copied before they are compared.
        order = sorted(range(leaf.dim()), key=lambda dim: -spec["strides"][dim] if shape[dim] > 1 else 0)
        in_memory = leaf.detach().permute(order)
        return in_memory if in_memory.is_contiguous() else in_memory.contiguous()


def plain_tensors(model):
    """Tensors that a module holds beside its parameters and buffers, in memory of their own: no weights can be loaded into these."""
    loaded = {tensor.untyped_storage().data_ptr() for tensor in model.state_dict().values()}
    found = {}
    for prefix, module in model.named_modules():
        for key, value in vars(module).items():
            if key in ("_parameters", "_buffers", "_modules"):
                continue
            for number, leaf in enumerate(pytree.tree_leaves(value)):
                if isinstance(leaf, torch.Tensor) and leaf.is_floating_point() and leaf.untyped_storage().data_ptr() not in loaded:
                    found[prefix, key, number] = leaf
    return found


def serve():
    faulthandler.enable()
    control = Control()
    spec = json.loads(os.pread(_SPEC, os.fstat(_SPEC).st_size, 0))
    torch.set_num_threads(spec["threads"])
    guest = Guest(spec, control)
    if cache := os.environ.get("TRITON_CACHE_DIR"):  # what was compiled before is there, and what is new goes nowhere
        shutil.copytree(spec["python"]["triton_cache"], cache, dirs_exist_ok=True)
    os.close(_SPEC)
    os.close(_DATA)
    gc.freeze()  # PyTorch's own objects: collecting before an order would else take longer than many calls
    control.tell({"event": "mapped", "addresses": guest.addresses(), "device": []})
    guest.rehearse()
    control.tell({"event": "loading"})
    fault(control, guest, lambda: guest.load()) or control.tell({"event": "loaded"})
    while True:
        order = guest.hear()
        if order["op"] == "prepare":
            fault(control, guest, lambda: control.tell({**guest.prepare(order), "ticket": order["ticket"]}))
        elif order["op"] == "call":
            fault(control, guest, lambda: answer(control, guest, order))
        else:
            os._exit(0)


def answer(control, guest, order):
    done, results = guest.call(order)
    control.tell({**done, "ticket": order["ticket"]})
    control.tell({**guest.outputs(results), "ticket": order["ticket"]})


def fault(control, guest, work):
    """Does it; whether it went wrong, which the evaluator is told then."""
    try:
        work()
        return False
    except BaseException as error:  # noqa: BLE001: a candidate may raise anything
        told = fault_of(guest._candidate.path, "forward()", error).told(guest._python["file"])
        control.tell({"event": "fault", **told})
        return True
