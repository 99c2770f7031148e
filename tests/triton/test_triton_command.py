"""`kernelwright vgpu` with a Python program: run as Python runs it, findings and counters as for CUDA."""

import os
import sys

import pytest
from nvidia import vgpu

ADD = """import sys
import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets@mask@)
    tl.store(out_ptr + offsets, x + 1, mask=offsets < n)


if __name__ == "__main__":
    x = torch.ones(1000, device=triton.runtime.driver.active.get_active_torch_device())
    out = torch.empty_like(x)
    add_kernel[(4,)](x, out, 1000, BLOCK=256)
    print(out.sum().item(), sys.argv[1:])
    sys.exit(len(sys.argv) - 1)
"""


@pytest.fixture
def program(tmp_path):
    def write(text):
        file = tmp_path / "program.py"
        file.write_text(text)
        return file

    return write


def run(command, *words, **more):
    return vgpu(command, *words, KERNELWRIGHT_PYTHON=sys.executable, PYTHONWARNINGS="ignore", **more)


def assert_refused(done, *words):
    assert done.status == 2 and done.out == "" and done.err.startswith("kernelwright: ") and "\n  try: " in done.err, done
    assert "Traceback" not in done.err, done
    for word in words:
        assert word in done.err, done


def test_no_such_program():
    assert_refused(run("run", "no_such.py"), "no_such.py")


def test_options_of_nvcc_are_for_cuda(program):
    assert_refused(run("run", program("print(1)\n"), options=["--nvcc=-O3"]), "--nvcc", "Python")


def test_a_python_without_triton(program, tmp_path):
    (tmp_path / "triton").mkdir()
    (tmp_path / "triton" / "__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'triton'\", name='triton')\n")
    assert_refused(run("run", program("print(1)\n"), PYTHONPATH=tmp_path), "no package 'triton'", "pip install triton")


@pytest.mark.slow
def test_arguments_and_status_are_the_programs_own(program):
    done = run("run", program(ADD.replace("@mask@", ", mask=offsets < n")), "--gpu", "x")
    assert (done.status, done.out) == (2, "2000.0 ['--gpu', 'x']\n"), done
    assert "1 launch, no findings" in done.err, done


def test_a_finding_has_the_line_and_no_frames_of_ours(program):
    done = run("run", program(ADD.replace("@mask@", "")))
    assert done.status == 1 and "kernelwright_triton" + os.sep not in done.err and "jit.py" not in done.err, done
    assert "program.py:10: x = tl.load(x_ptr + offsets)" in done.err and "1 finding" in done.err, done
    assert 'program.py", line 17' in done.err, done


@pytest.mark.slow
def test_an_exception_of_the_program_is_shown_as_python_shows_it(program):
    done = run("run", program("def f():\n    return 1 / 0\n\n\nf()\n"))
    assert done.status == 1 and "ZeroDivisionError: division by zero" in done.err, done
    assert done.err.count("File ") == 2 and "runpy" not in done.err, done


@pytest.mark.slow
def test_profile_has_counters_by_line_and_an_estimate(program):
    done = run("profile", program(ADD.replace("@mask@", ", mask=offsets < n")))
    assert done.status == 0, done
    for words in ("add_kernel", "program.py:10", "an estimate, not a measurement", " registers", "global loads"):
        assert words in done.out, done


@pytest.mark.slow
def test_json(program):
    done = run("run", program(ADD.replace("@mask@", "")), options=["--json"])
    assert done.status == 1 and [f["line"] for f in done.json["findings"]] == [10], done
    assert done.json["kernels"][0]["kernel"] == "add_kernel" and "VirtualGpuError" in done.json["stderr"], done
