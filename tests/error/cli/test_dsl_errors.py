"""What is wrong with a kernel's DSL: another language than the file's, a package that is not there, a kernel that its compiler refuses, a
feature that nothing here has. Each time the message says which and what to do."""

import os
import pathlib
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "cuda")]

from cli import NOT_PASSED, ROOT, assert_refused  # noqa: E402
from cli import kw, shared_cache  # noqa: E402, F401: fixtures
from nvidia import find_nvcc  # noqa: E402

PROBLEM = "problems/scale_relu.py"
needs_nvcc = pytest.mark.skipif(find_nvcc() is None, reason="there is no nvcc")

TRITON = """import triton
import triton.language as tl


@triton.jit
def twice(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, @value@, mask=i < n)


def launch(x, out):
    twice[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), BLOCK=128)
"""
TILELANG = """import tilelang
import tilelang.language as T


@tilelang.jit@options@
def twice(N):
    @T.prim_func
    def main(x: T.Tensor((N,), "float32"), out: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, 128), threads=128) as bx:
            i = bx * 128 + T.get_thread_binding()
            if i < N:
                out[i] = @value@

    return main


def launch(x, out):
    twice(x.numel())(x.view(-1), out.view(-1))
"""
CUDA = """#include "problem.h"
__global__ void twice(const float* x, float* out) { out[threadIdx.x] = @value@; }
extern "C" void kw_kernel(const float* x, float* out, cudaStream_t stream) { twice<<<1, 256, 0, stream>>>(x, out); }
"""
OPENCL = """#include "problem.h"
// kw:launch twice groups=1 local=1
__kernel void twice(@parameter@, __global float* out) { out[0] = @value@; }
"""


def triton(value):
    return TRITON.replace("@value@", value)


def tilelang(value="2 * x[i]", options=""):
    return TILELANG.replace("@value@", value).replace("@options@", options)


def opencl(value, parameter="__global const float* x"):
    return OPENCL.replace("@value@", value).replace("@parameter@", parameter)


def written(folder, name, text):
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def has_tilelang():
    return any((ROOT / ".venv").glob("lib/python*/site-packages/tilelang"))


needs_tilelang = pytest.mark.skipif(not has_tilelang() or find_nvcc() is None, reason="TileLang is not installed, or there is no nvcc")
FILES = {"kernel.cu": CUDA, "kernel.cl": opencl("x[0]"), "kernel.py": triton("tl.load(x + i)"), "tile.py": tilelang()}


@pytest.mark.parametrize(("name", "dsl", "said"), [
    ("kernel.cu", "opencl", "a kernel in opencl is a .cl file"),
    ("kernel.cl", "cuda-c", "a kernel in cuda-c is a .cu file"),
    ("kernel.cl", "triton", "a kernel in triton is a .py file"),
    ("kernel.py", "cute", "a kernel in cute is a .cu file"),
    ("kernel.py", "tilelang", "does not import tilelang"),
    ("tile.py", "triton", "does not import triton"),
    ("kernel.py", "kernelbench", "kernelbench"),
    ("kernel.cu", "fortran", "fortran"),
])
def test_another_language_than_the_files(kw, tmp_path, name, dsl, said):  # noqa: F811
    assert_refused(kw("verify", PROBLEM, written(tmp_path, name, FILES[name]), "--dsl", dsl), said)


def test_a_python_file_that_is_no_kernel(kw, tmp_path):  # noqa: F811
    assert_refused(kw("verify", PROBLEM, written(tmp_path, "kernel.py", "import torch\n")), "neither triton nor tilelang", "docs/kernel-contract.md")


def python_without(folder, package):
    """An interpreter in which a package is not to be found."""
    (folder / "sitecustomize.py").write_text(
        "from importlib import metadata\n"
        "found = metadata.version\n\n\n"
        "def version(name):\n"
        f"    if name == {package!r}:\n"
        "        raise metadata.PackageNotFoundError(name)\n"
        "    return found(name)\n\n\n"
        "metadata.version = version\n", encoding="utf-8")
    program = folder / "python"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{folder}${{PYTHONPATH:+:$PYTHONPATH}}" exec "{ROOT / ".venv" / "bin" / "python"}" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(("package", "name", "remedy"), [
    ("triton", "kernel.py", "tools/setup"),
    ("tilelang", "tile.py", "tools/setup"),
])
@pytest.mark.parametrize("command", ["verify", "optimize"])
def test_a_package_that_is_not_there(kw, tmp_path, command, package, name, remedy):  # noqa: F811
    words = [written(tmp_path, name, FILES[name])] if command == "verify" else ["--dsl", package, "--evaluations", "1"]
    assert_refused(kw(command, PROBLEM, *words, KERNELWRIGHT_PYTHON=python_without(tmp_path, package)), f"no package '{package}'", remedy)


def test_no_nvcc(kw, tmp_path):  # noqa: F811
    nowhere = tmp_path / "nvcc"
    for dsl in ("cuda-c", "cute"):
        assert_refused(kw("optimize", PROBLEM, "--dsl", dsl, "--evaluations", "1", KERNELWRIGHT_NVCC=nowhere), "KERNELWRIGHT_NVCC", str(nowhere))
    assert_refused(kw("verify", PROBLEM, written(tmp_path, "kernel.cu", CUDA), KERNELWRIGHT_NVCC=nowhere), "KERNELWRIGHT_NVCC", str(nowhere))


@needs_nvcc
def test_no_headers_of_cute(kw, tmp_path):  # noqa: F811
    file = written(tmp_path, "kernel.cu", '#include <cute/tensor.hpp>\n' + CUDA.replace("@value@", "1"))
    assert_refused(kw("verify", PROBLEM, file, KERNELWRIGHT_CUTLASS=tmp_path), "KERNELWRIGHT_CUTLASS", "no folder cute")


def assert_not_passed(run, place, *words):
    assert run.status == NOT_PASSED, run
    verdict = run.json["verdict"]
    assert verdict["verdict"] == "compile_failed" and verdict["repeat"].startswith("kernelwright verify "), run
    told = verdict["diagnosis"]["summary"] + " " + verdict["diagnosis"]["hint"]
    for word in words:
        assert word in told, run
    assert place in verdict["diagnosis"]["place"], run


def test_triton_does_not_compile_it(kw, tmp_path):  # noqa: F811
    run = kw("verify", PROBLEM, written(tmp_path, "kernel.py", triton("tl.lod(x + i)")), "--json")
    assert_not_passed(run, "kernel.py:8", "no attribute 'lod'")


@needs_tilelang
@pytest.mark.parametrize(("text", "place", "said"), [
    (tilelang("y[i]"), "tile.py:12", "'y' is not defined"),
    pytest.param(tilelang(options="(out_idx=[1])"), "tile.py:18", "out_idx", marks=pytest.mark.slow),
    pytest.param(tilelang('T.call_extern("float32", "no_such_function", x[i])'), "tile.py as TileLang lowers it:", "no_such_function",
                 marks=pytest.mark.slow),
])
def test_tilelang_does_not_compile_it(kw, tmp_path, text, place, said):  # noqa: F811
    assert_not_passed(kw("verify", PROBLEM, written(tmp_path, "tile.py", text), "--json"), place, said)


@needs_nvcc
def test_nvcc_does_not_compile_it(kw, tmp_path):  # noqa: F811
    assert_not_passed(kw("verify", PROBLEM, written(tmp_path, "kernel.cu", CUDA.replace("@value@", "y[0]")), "--json"), "kernel.cu:2", '"y" is undefined')


@needs_nvcc
def test_an_instruction_that_the_virtual_gpu_does_not_have(kw, tmp_path):  # noqa: F811
    file = written(tmp_path, "kernel.cu", CUDA.replace("@value@", "tex1Dfetch<float>(cudaTextureObject_t(x[0]), 1)"))
    assert_not_passed(kw("verify", PROBLEM, file, "--json"), "", "tex.1d.v4.f32.s32 is not supported", "docs/ptx-support.md")


def test_opencl_does_not_compile_it(kw, tmp_path):  # noqa: F811
    if not any(os.path.exists(f"{folder}/libOpenCL.so.1") for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64")):
        pytest.skip("there is no OpenCL here")
    assert_not_passed(kw("verify", PROBLEM, written(tmp_path, "kernel.cl", opencl("y[0]")), "--json"), "kernel.cl:3", "'y'")
    assert_not_passed(kw("verify", PROBLEM, written(tmp_path, "image.cl", opencl("1", "__read_only image2d_t x")), "--json"), "image.cl:", "image2d_t")
