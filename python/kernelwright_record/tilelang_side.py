"""TileLang under a recording: kernels are lowered to CUDA source for the target, offline, and a call of one is written down."""

import re

from .recording import Recording
from .refusal import Refusal
from .tensors import RecordedTensor

_target = None


def prepare(spec):
    """tilelang.jit and tilelang.compile give kernels that record their calls."""
    import torch  # noqa: F401: before TileLang, which looks for it
    from torch.utils._python_dispatch import _disable_current_modes

    try:
        import tilelang
    except ModuleNotFoundError as error:
        raise Refusal(f"the Python of the compile step has no package '{error.name}'", "tools/setup installs it") from None
    global _target
    _target = tilelang.tvm.target.Target({"kind": "cuda", "arch": f"sm_{spec['capability']}"})
    lazy = tilelang.jit

    def jit(func=None, **options):
        if func is None:
            return lambda each: jit(each, **options)
        return _Factory(lazy(func, **{key: value for key, value in options.items() if key in ("out_idx", "pass_configs")}), options)

    def compile_program(program, out_idx=None, pass_configs=None, **_options):
        return _Kernel(program, out_idx, pass_configs)

    _state["quiet"] = _disable_current_modes
    tilelang.jit, tilelang.compile = jit, compile_program


_state = {}


class _Factory:
    """What @tilelang.jit makes of a function that returns a program: a call compiles it for these parameters."""

    def __init__(self, lazy, options):
        self._lazy, self._options, self._made = lazy, options, {}
        self.__name__ = getattr(lazy.func, "__name__", "kernel")

    def __call__(self, *args, **kwargs):
        if any(isinstance(each, RecordedTensor) for each in (*args, *kwargs.values())):
            raise Refusal("a @tilelang.jit function is called with tensors",
                          "write it so that it returns a T.prim_func, and call what it returns with the tensors")
        key = repr((args, sorted(kwargs.items())))
        if key not in self._made:
            with _state["quiet"](), _target:
                program = self._lazy.get_tir(*args, **kwargs)
            self._made[key] = _Kernel(program, self._options.get("out_idx"), self._options.get("pass_configs"))
        return self._made[key]


def _whole(value):
    return int(getattr(value, "value", value))


class _Kernel:
    """A program lowered to one CUDA kernel."""

    def __init__(self, program, out_idx, pass_configs):
        import tilelang
        from tilelang import tvm

        if out_idx is not None:
            raise Refusal("a kernel that allocates its results (out_idx)", "take the outputs as arguments: launch() gets them")
        with _state["quiet"](), _target, tvm.transform.PassContext(opt_level=3, config=dict(pass_configs or {})):
            made = tilelang.lower(program, target=_target)
        functions = list(made.device_mod.functions.items())
        if len(functions) != 1:
            raise Refusal(f"a program with {len(functions)} kernels", "write one T.Kernel in a program")
        variable, function = functions[0]
        self.name, self.source = str(variable.name_hint), made.kernel_source
        attributes = function.attrs
        extents = {str(key): _whole(value) for key, value in attributes["thread_extent"].items()}
        self.grid = [extents.get(f"blockIdx.{axis}", 1) for axis in "xyz"]
        self.block = [extents.get(f"threadIdx.{axis}", 1) for axis in "xyz"]
        self.shared = _whole(attributes["dyn_shared_memory_buf"]) if "dyn_shared_memory_buf" in attributes else 0
        self.cooperative = "use_cooperative_groups" in attributes
        self.parameters = [str(each.name) for each in function.params]
        self.buffers = {}
        for number, param in enumerate(program.params):
            buffer = program.buffer_map.get(param) if param in program.buffer_map else None
            name = str(buffer.data.name) if buffer is not None else str(param.name)
            self.buffers[name] = (number, buffer)

    def __call__(self, *args, **_kwargs):
        recording = Recording.current
        if len(args) != len(self.buffers):
            raise Refusal(f"'{self.name}' takes {len(self.buffers)} arguments, and gets {len(args)}", "call it with all of its tensors")
        for name, (number, buffer) in self.buffers.items():
            if buffer is not None:
                self._check(name, args[number], buffer)
        arguments = []
        for name in self.parameters:
            if name not in self.buffers:
                raise Refusal(f"the kernel's parameter '{name}' is none of the program's", "pass tensors of fixed shapes")
            number, buffer = self.buffers[name]
            if buffer is None:
                raise Refusal(f"the scalar '{name}' is an argument of the kernel", "make it a parameter of the @tilelang.jit function")
            arguments.append({**args[number].memory.place(), "offset": args[number].byte_offset})
        module = recording.module(self, self.name, self.source, "cu", {"registers": 0})
        recording.launch(module, self.grid, self.block, self.shared, arguments, self.cooperative)

    def _check(self, name, tensor, buffer):
        if not isinstance(tensor, RecordedTensor):
            raise Refusal(f"'{name}' is no tensor of the problem, and not made in launch()", "make tensors inside of launch()", "forbidden")
        shape, dtype = [_whole(each) for each in buffer.shape], str(buffer.dtype)
        if list(tensor.shape) != shape or str(tensor.dtype).removeprefix("torch.") != dtype:
            raise Refusal(f"'{name}' is declared as {dtype} {tuple(shape)} and gets {str(tensor.dtype).removeprefix('torch.')} "
                          f"{tuple(tensor.shape)}", "declare the tensor as it is passed")
        if not tensor.meta.is_contiguous():
            raise Refusal(f"'{name}' is not contiguous", "pass a view whose elements lie one after the other, as x.t() of a transposed one")


def explain(error, file):
    text = str(error)
    if "tvm" in type(error).__module__ or "tvm" in text[:2000]:
        last = [line for line in text.splitlines() if line.strip()]
        found = re.search(r"(?:InternalError|ValueError|TypeError|RuntimeError|DiagnosticError): (.*)", text)
        return Refusal("TileLang does not lower the kernel: " + (found.group(1) if found else last[-1] if last else type(error).__name__))
    return None
