"""CUDA programs as users write them give the host's answers on the virtual GPU, and its checks find nothing in them."""

import subprocess

import pytest
from nvidia import HERE, ROOT, cuda_headers, cutlass_headers, find_nvcc, vgpu

pytestmark = pytest.mark.skipif(find_nvcc() is None, reason="there is no nvcc")

QUICK = {"saxpy", "reduce_shuffle"}
PROGRAMS = sorted(path.stem for path in (HERE / "programs").glob("*.cu"))


def options_for(name):
    if name == "tensor_map":
        return ["--gpu", "h100"]
    if name not in ("cutlass_gemm", "cute_gemm", "cute_tma"):
        return []
    if cutlass_headers() is None:
        pytest.skip("the package nvidia-cutlass is not installed")
    gpu = ["--gpu", "h100"] if name == "cute_tma" else []
    return [*gpu, "--nvcc=-std=c++17", f"--nvcc=-I{cutlass_headers()}", "--nvcc=--expt-relaxed-constexpr"]


# The first launches too many threads to see the error. CUTLASS's pipeline loads fragments of stages beyond the last, which
# nothing has filled, and never uses them.
ON_PURPOSE = {"streams_and_memory": {"launch_limit"}, "cutlass_gemm": {"uninitialised"}}


def test_there_are_programs():
    assert len(PROGRAMS) >= 15 and QUICK <= set(PROGRAMS)


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in PROGRAMS])
def test_program(name):
    run = vgpu("run", HERE / "programs" / f"{name}.cu", options=["--json", *options_for(name)])
    found = {finding["kind"] for finding in run.json["findings"]}
    assert found == ON_PURPOSE.get(name, set()), run
    assert run.status == (1 if found else 0) and run.json["status"] == 0, run
    assert run.json["stdout"].endswith("ok\n"), run


@pytest.mark.slow
def test_printf_of_kernels():
    run = vgpu("run", HERE / "programs" / "device_printf.cu", options=["--json"])
    assert run.json["stdout"] == ("int 42 4000000000    42|42   |00042 2a -5000000000 10000000000 k\n"
                                  "float 1.500000 1.500e+00 1.5     1.50|\ntext in the kernel and 100%\nno text\nok\n"), run


@pytest.mark.slow
@pytest.mark.parametrize("gpu", ["h100", "t4", "v100"])
def test_other_gpus(gpu):
    run = vgpu("run", HERE / "programs" / "streams_and_memory.cu", options=["--json", "--gpu", gpu])
    assert run.json["status"] == 0, run


@pytest.mark.slow
def test_compressed_device_code(tmp_path):
    """nvcc's own default compresses PTX; a program that was built without any of our options runs too."""
    library = next(path for path in (ROOT / "build").glob("*/lib/libkw_cudart.so"))
    for mode in ("size", "speed"):
        program = tmp_path / mode
        subprocess.run([str(find_nvcc()), "-arch=compute_80", f"--compress-mode={mode}", "-cudart", "none", "-o", str(program),
                        str(HERE / "programs" / "saxpy.cu"), f"-L{library.parent}", "-lkw_cudart", f"-Xlinker=-rpath={library.parent}"],
                       check=True, timeout=600)
        done = subprocess.run([str(program)], capture_output=True, text=True, timeout=600)
        assert done.stdout == "ok\n", done


def test_the_types_of_the_runtime():
    """Sizes and places of the fields of the runtime's structures, against the toolkit's headers."""
    if cuda_headers() is None:
        pytest.skip("there is no cuda_runtime.h")
    command = ["g++", "-std=c++20", "-fsyntax-only", f"-I{ROOT / 'src'}", f"-isystem{cuda_headers()}", str(HERE / "abi.cpp")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[:4000]
