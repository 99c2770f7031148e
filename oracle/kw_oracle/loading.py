"""Loads a problem file and calls its three entry points under a seed. Whatever a problem does wrong becomes one
sentence that names the file and the line; a traceback never leaves this file."""

import contextlib
import errno
import hashlib
import inspect
import itertools
import pathlib
import random
import sys
import traceback
import types
from dataclasses import dataclass

import torch

from kw_oracle.errors import OracleError, bad_problem, one_line, unsupported
from kw_seeded import DrawnConstants, is_running

_MODULE_PREFIX = "kw_problem_"
_counter = itertools.count()
_CUDA_SIGNS = ("no NVIDIA driver", "not compiled with CUDA", "CUDA driver", "CUDA error", "No CUDA GPUs", "CUDA is not available")
_MEMORY_SIGNS = ("not enough memory", "can't allocate memory", "Unable to allocate")


@dataclass
class Problem:
    path: pathlib.Path
    source_hash: str
    module: types.ModuleType

    @property
    def name(self) -> str:
        return self.path.stem


@contextlib.contextmanager
def fresh_environment(threads: int):
    """What a problem may have changed for the whole process is as it was for the next request."""
    torch.set_default_dtype(torch.float32)
    torch.set_default_device(None)  # a named one, even "cpu", would slow every call down
    if torch.get_num_threads() != threads:
        torch.set_num_threads(threads)
    with torch.no_grad():
        yield
    torch.set_default_dtype(torch.float32)


def seed_everything(seed: int) -> None:
    random.seed(seed)
    torch.manual_seed(seed)
    try:
        import numpy
    except ImportError:
        return
    numpy.random.seed(seed % 2**32)


def line_in(path: pathlib.Path, error: BaseException) -> int | None:
    """The innermost line of the problem file that the error passed through."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return error.lineno
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return lines[-1] if lines else None


def problem_error(path: pathlib.Path, doing: str, error: BaseException) -> OracleError:
    line = line_in(path, error)
    place = f"{path}:{line}" if line else str(path)
    text = one_line(error.msg if isinstance(error, SyntaxError) else error)
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    if any(sign in str(error) for sign in _CUDA_SIGNS):
        return unsupported(f"{place}: {doing} asks for a CUDA device ({said})",
                           "make the tensors on the default device: the oracle runs on the CPU")
    if isinstance(error, MemoryError) or any(sign in str(error) for sign in _MEMORY_SIGNS):
        return unsupported(f"{place}: {doing} needs more memory than this machine has ({said})", "use smaller shapes")
    hint = "run the file with Python to see the whole error"
    if isinstance(error, ImportError):
        hint = "install the missing package beside PyTorch, or leave the import out"
    return bad_problem(f"{place}: {doing} raised {said}", hint)


@contextlib.contextmanager
def blamed_on(problem: Problem, doing: str):
    """Errors of the enclosed calls into the problem's code, as the protocol wants them."""
    try:
        yield
    except (OracleError, KeyboardInterrupt):
        raise
    except BaseException as error:  # noqa: BLE001: a problem may raise anything, SystemExit too
        raise problem_error(problem.path, doing, error) from None


def load_problem(file: str) -> Problem:
    path = pathlib.Path(file)
    try:
        source = path.read_bytes()
    except OSError as error:
        raise bad_problem(f"{path}: cannot be read ({error.strerror or errno.errorcode.get(error.errno or 0, error)})",
                          "check the path of the problem") from None
    return load_text(path, source)


def load_text(path: pathlib.Path, source: bytes) -> Problem:
    """A problem whose text may differ from what is in its file; messages name the file."""
    module = types.ModuleType(_MODULE_PREFIX + str(next(_counter)))
    module.__file__ = str(path)
    problem = Problem(path, hashlib.sha256(source).hexdigest(), module)
    with blamed_on(problem, "loading the file"):
        code = compile(source, str(path), "exec", dont_inherit=True)
        sys.modules[module.__name__] = module
        seed_everything(0)
        exec(code, module.__dict__)
    for name, what in (("Model", "class Model"), ("get_inputs", "get_inputs()"), ("get_init_inputs", "get_init_inputs()")):
        if not callable(getattr(module, name, None)):
            raise bad_problem(f"{path}: has no {what}",
                              "a problem has a class Model, get_inputs() and get_init_inputs()")
    if not (inspect.isclass(module.Model) and issubclass(module.Model, torch.nn.Module)):
        raise bad_problem(f"{path}: Model is not a torch.nn.Module", "derive it from torch.nn.Module")
    return problem


def forget_problems(keep: set[str]) -> None:
    for name in [name for name in sys.modules if name.startswith(_MODULE_PREFIX) and name not in keep]:
        del sys.modules[name]


def _constructor_arguments(problem: Problem, given) -> tuple[list, dict]:
    """get_init_inputs() gives the positional arguments, a dict of named ones, or [[positional], {named}]."""
    if isinstance(given, dict):
        return [], given
    if not isinstance(given, (list, tuple)):
        raise bad_problem(f"{problem.path}: get_init_inputs() returned {type(given).__name__}",
                          "return a list of Model's arguments, [] for none")
    if len(given) == 2 and isinstance(given[0], (list, tuple)) and isinstance(given[1], dict):
        try:
            inspect.signature(problem.module.Model).bind(*given[0], **given[1])
            return list(given[0]), given[1]
        except TypeError:
            pass
    return list(given), {}


def constructor_arguments(problem: Problem, seed: int = 0) -> tuple[list, dict]:
    seed_everything(seed)
    with blamed_on(problem, "get_init_inputs()"):
        given = problem.module.get_init_inputs()
    return _constructor_arguments(problem, given)


def build_model(problem: Problem, weights_seed: int, drawn_constants: bool = False) -> torch.nn.Module:
    if drawn_constants:
        with DrawnConstants(weights_seed, lambda name, _value, _count: is_running(name)) as drawn:
            model = build_model(problem, weights_seed)
            drawn.finish(model)
        return model
    args, kwargs = constructor_arguments(problem, weights_seed)
    with blamed_on(problem, "Model()"):
        seed_everything(weights_seed)
        model = problem.module.Model(*args, **kwargs).eval()
    if any(torch.nn.parameter.is_lazy(tensor) for tensor in itertools.chain(model.parameters(), model.buffers())):
        inputs = call_get_inputs(problem, 0)
        seed_everything(weights_seed)
        with blamed_on(problem, "the first forward()"):
            model(*inputs)
    return model


def call_get_inputs(problem: Problem, seed: int) -> list:
    seed_everything(seed)
    with blamed_on(problem, "get_inputs()"):
        given = problem.module.get_inputs()
    if not isinstance(given, (list, tuple)):
        raise bad_problem(f"{problem.path}: get_inputs() returned {type(given).__name__}",
                          "return a list of forward()'s arguments")
    return list(given)
