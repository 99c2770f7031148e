"""`kernelwright vgpu` when something is missing or wrong: it says what to do, with exit status 2."""

import pytest
from nvidia import HERE, find_nvcc, vgpu

SAXPY = HERE / "programs" / "saxpy.cu"
needs_nvcc = pytest.mark.skipif(find_nvcc() is None, reason="there is no nvcc")


def assert_refused(run, *words):
    assert run.status == 2 and run.out == "" and run.err.startswith("kernelwright: "), run
    assert "\n  try: " in run.err, run
    for word in words:
        assert word in run.err, f"'{word}' is missing\n{run}"


def test_no_compiler(tmp_path):
    assert_refused(vgpu("run", SAXPY, KERNELWRIGHT_NVCC=tmp_path / "nvcc"), "KERNELWRIGHT_NVCC", "no program")


def test_no_such_gpu():
    assert_refused(vgpu("run", SAXPY, options=["--gpu", "a1000"]), "a1000", "h100", "rtx4090")


def test_no_such_file():
    assert_refused(vgpu("run", "no_such.cu"), "no_such.cu")


def test_no_file():
    assert_refused(vgpu("run", ""), "")


@needs_nvcc
@pytest.mark.slow
def test_source_with_an_error(tmp_path):
    source = tmp_path / "wrong.cu"
    source.write_text("__global__ void k() { undeclared = 1; }\nint main() { k<<<1, 1>>>(); }\n")
    assert_refused(vgpu("run", source), "wrong.cu", "undeclared")


@needs_nvcc
@pytest.mark.slow
def test_arguments_and_status_are_the_programs_own(tmp_path):
    source = tmp_path / "arguments.cu"
    source.write_text('#include <cstdio>\nint main(int argc, char** argv) { std::printf("%s %s\\n", argv[1], argv[2]); return argc; }\n')
    run = vgpu("run", source, "--gpu", "x")
    assert (run.status, run.out) == (3, "--gpu x\n"), run


@needs_nvcc
@pytest.mark.slow
def test_an_error_after_a_fault_is_sticky(tmp_path):
    source = tmp_path / "sticky.cu"
    source.write_text('#include <cstdio>\n__global__ void k(int* p) { *p = 1; }\nint main() {\n  k<<<1, 1>>>(nullptr);\n'
                      '  int* p;\n  std::printf("%d %d %d\\n", cudaDeviceSynchronize(), cudaMalloc(&p, 4), cudaGetLastError());\n'
                      '  std::printf("%d\\n", cudaGetLastError());\n  cudaDeviceReset();\n  std::printf("%d\\n", cudaMalloc(&p, 4));\n}\n')
    run = vgpu("run", source)
    assert run.out == "700 700 700\n700\n0\n" and run.status == 1, run
