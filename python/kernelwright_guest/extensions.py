"""torch.utils.cpp_extension in both lives of a candidate: built once in a folder of its own, and only imported from there afterwards."""

import inspect
import os

import torch.utils.cpp_extension as cpp_extension

from .candidate import Fault

_NO_CUDA = Fault(
    "inline CUDA cannot be compiled into a PyTorch extension here",
    "put the kernel into a .cu file by the contract of docs/kernel-contract.md and verify that: it runs on the virtual GPU (--dsl cuda-c); "
    "or write it in Triton, which runs there from ModelNew", "forbidden")


def _refuse_cuda(arguments):
    sources = arguments.get("sources") or ()
    sources = [sources] if isinstance(sources, str) else sources
    if arguments.get("cuda_sources") or arguments.get("with_cuda") or any(str(each).endswith((".cu", ".cuh")) for each in sources):
        raise _NO_CUDA


def _watched(function):
    signature = inspect.signature(function)

    def checked(*args, **kwargs):
        _refuse_cuda(signature.bind_partial(*args, **kwargs).arguments)
        return function(*args, **kwargs)

    return checked


def build_only_cpp():
    for name in ("load_inline", "load"):
        setattr(cpp_extension, name, _watched(getattr(cpp_extension, name)))


def import_only(folder):
    """What load() and load_inline() would build is there already, in `folder`."""
    build_only_cpp()
    signature = inspect.signature(cpp_extension._jit_compile)

    def imported(*args, **kwargs):
        given = signature.bind_partial(*args, **kwargs)
        given.apply_defaults()
        name, where = given.arguments["name"], given.arguments["build_directory"] or os.path.join(folder, given.arguments["name"])
        if not os.path.exists(os.path.join(where, name + ".so")):
            raise Fault(f"the extension '{name}' was not built when the file was loaded",
                        "call load_inline() where the file is loaded or in ModelNew's constructor, with one name", "compile_failed")
        if given.arguments.get("is_standalone"):
            raise Fault("a standalone program is no extension", "build a module: is_standalone=False", "forbidden")
        return cpp_extension._import_module_from_library(name, where, given.arguments["is_python_module"])

    cpp_extension._jit_compile = imported
    cpp_extension._get_build_directory = lambda name, verbose: os.path.join(folder, name)
