"""A file with ModelNew: loading it, building the module as the problem builds Model, and what went wrong in words that name the user's line."""

import importlib.util
import random
import sys
import traceback

import torch

from kw_seeded import DrawnConstants, is_running

_CUDA_SIGNS = ("no NVIDIA driver", "not compiled with CUDA", "CUDA driver", "CUDA error", "No CUDA GPUs", "CUDA is not available",
               "Torch not compiled")
_MEMORY_SIGNS = ("not enough memory", "can't allocate memory", "Unable to allocate", "std::bad_alloc")


class Fault(Exception):
    """What the candidate did wrong: a verdict and a diagnosis."""

    def __init__(self, summary, hint="", verdict="crashed", line=0, evidence=()):
        super().__init__(summary)
        self.summary, self.hint, self.verdict, self.line, self.evidence = summary, hint, verdict, line, list(evidence)

    def told(self, file):
        place = f"{file}:{self.line}" if self.line else ""
        return {"summary": self.summary, "hint": self.hint, "verdict": self.verdict, "place": place, "evidence": self.evidence}


def one_line(text, most=300):
    words = " ".join(str(text).split())
    return words if len(words) <= most else words[:most - 3] + "..."


def line_of(path, error):
    """The innermost line of the candidate that the error passed through; 0: none."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno or 0
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return lines[-1] if lines else 0


def fault_of(path, doing, error):
    if isinstance(error, Fault):
        if not error.line:
            error.line = line_of(path, error)
        return error
    line, text = line_of(path, error), str(error)
    said = f"{type(error).__name__}: {one_line(error)}" if text else type(error).__name__
    if any(sign in text for sign in _CUDA_SIGNS):
        return Fault(f"{doing} asks for a CUDA device", "there is no GPU here and tensors are on the CPU: use x.device, or leave the device out",
                     line=line, evidence=[said])
    if isinstance(error, MemoryError) or any(sign in text for sign in _MEMORY_SIGNS):
        return Fault(f"{doing} used up the memory that it may have", "allocate less", "out_of_memory", line, [said])
    if isinstance(error, ModuleNotFoundError):
        hint = "candidates have PyTorch and Triton only"
        if error.name and error.name.partition(".")[0] in ("numpy", "scipy", "numba"):
            hint = f"candidates do the work themselves: {error.name} is there with --allow-torch only"
        return Fault(f"{doing} imports '{error.name}', which is not there", hint, line=line)
    if type(error).__name__ == "VirtualGpuError":
        lines = text.splitlines()
        return Fault(f"the virtual GPU found a fault in a kernel: {one_line(lines[0])}", "see docs/virtual-gpu.md", line=line,
                     evidence=[one_line(each) for each in lines[1:8]])
    return Fault(f"{doing} raised {said}", "run the file with Python to see the whole error", line=line)


class Candidate:
    def __init__(self, path, call):
        self.path, self._call, self.module = path, call, None

    def load(self):
        spec = importlib.util.spec_from_file_location("candidate", self.path)
        self.module = importlib.util.module_from_spec(spec)
        sys.modules["candidate"] = self.module
        try:
            spec.loader.exec_module(self.module)
        except BaseException as error:  # noqa: BLE001: a candidate may raise anything, SystemExit too
            raise fault_of(self.path, "loading the file", error) from None
        found = getattr(self.module, "ModelNew", None)
        if not (isinstance(found, type) and issubclass(found, torch.nn.Module)):
            raise Fault("the file defines no class ModelNew", "define a class ModelNew(torch.nn.Module) with Model's arguments",
                        "compile_failed")

    def build(self, seed, statistics=None):
        """ModelNew as the problem builds Model: the same arguments, under the same seed. With `statistics`, the constants and sizes of Model's
        running statistics, values are drawn in place of what it sets to constants."""
        constructor = self._call["constructor"]
        args = [value_of(tree) for tree in constructor["args"]]
        kwargs = {key: value_of(tree) for key, tree in constructor["kwargs"]}
        shown = one_line(", ".join([*map(repr, args), *(f"{key}={value!r}" for key, value in kwargs.items())]), 120)
        seed_everything(seed)
        try:
            if statistics is None:
                return self.module.ModelNew(*args, **kwargs).eval()
            with DrawnConstants(seed, lambda name, value, count: is_running(name) or (value, count) in statistics) as drawn:
                model = self.module.ModelNew(*args, **kwargs).eval()
                drawn.finish(model)
            return model
        except TypeError as error:
            if not line_of(self.path, error):
                raise Fault(f"ModelNew({shown}) raised TypeError: {one_line(error)}",
                            "ModelNew takes the arguments that the problem gives Model") from None
            raise fault_of(self.path, f"ModelNew({shown})", error) from None
        except BaseException as error:  # noqa: BLE001
            raise fault_of(self.path, f"ModelNew({shown})", error) from None

    def arguments(self, leaves):
        return [value_of(tree, leaves) for tree in self._call["arguments"]]


def seed_everything(seed):
    """As the oracle does before it builds Model."""
    random.seed(seed)
    torch.manual_seed(seed)
    try:
        import numpy
    except ImportError:
        return
    numpy.random.seed(seed % 2**32)


def value_of(tree, leaves=()):
    (kind, inner), = tree.items()
    if kind == "leaf":
        return leaves[inner]
    if kind in ("list", "tuple"):
        return (list if kind == "list" else tuple)(value_of(each, leaves) for each in inner)
    if kind == "dict":
        return {key: value_of(each, leaves) for key, each in inner}
    if kind == "dtype":
        return getattr(torch, inner)
    if kind == "float":
        return float(inner)
    return inner
