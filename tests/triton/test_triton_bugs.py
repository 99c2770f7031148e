"""What is wrong with a kernel is an exception that names the line of the user's Python, the program and the thread."""

import pathlib
import pickle
import re

import triton_bugs as bugs
import kernelwright_triton
import triton_programs as programs
import pytest
import torch

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = (HERE / "triton_bugs.py").read_text(encoding="utf-8").splitlines()
EXPECTED = {number: kind for number, line in enumerate(SOURCE, 1) for kind in re.findall(r"# expect: (\w+)", line)}


def lines_of(function):
    """Where a bug is expected: from the kernel before the function, or a helper before that."""
    end = function.__code__.co_firstlineno
    begin = max((number for number, line in enumerate(SOURCE[:end - 1], 1) if line.startswith("def ") and number < end - 1
                 and not SOURCE[number - 2].startswith("@")), default=0)
    return {number: kind for number, kind in EXPECTED.items() if begin < number < end}


@pytest.mark.parametrize("bug", bugs.BUGS, ids=lambda bug: bug.__name__)
def test_bug_is_found_on_its_line(bug):
    expected = lines_of(bug)
    assert expected
    with pytest.raises(kernelwright_triton.VirtualGpuError) as caught:
        bug()
    for finding in caught.value.findings:
        assert expected.get(finding.line) == finding.kind, f"{finding}\nline {finding.line}, not {expected}"
        assert finding.file == str(HERE / "triton_bugs.py")
    assert caught.value.line in expected and f"triton_bugs.py:{caught.value.line}: " in str(caught.value)


def test_an_error_has_fields_and_can_be_pickled():
    with pytest.raises(kernelwright_triton.VirtualGpuError) as caught:
        bugs.unmasked_load()
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        assert (error.kind, error.kernel, error.allocation) == ("out_of_bounds", "unmasked_load_kernel", "x_ptr")
        assert error.block == (3, 0, 0) and error.thread[0] > 0 and error.fatal
        assert "byte 4000 of 'x_ptr', which has 4000 bytes" in error.message


def test_a_launch_that_never_ends_is_ended(virtual_gpu):
    kernelwright_triton.activate(timeout=1.0)
    with pytest.raises(kernelwright_triton.VirtualGpuError) as caught:
        bugs.endless()
    assert caught.value.kind == "timeout" and SOURCE[caught.value.line - 1].endswith(("# expect: timeout", "pass"))


def test_without_checks_a_race_is_not_looked_for_but_bounds_are():
    kernelwright_triton.activate(checks=False)
    bugs.racing_sum()
    with pytest.raises(kernelwright_triton.VirtualGpuError):
        bugs.unmasked_store()


def test_the_gpu_works_on_after_a_finding():
    with pytest.raises(kernelwright_triton.VirtualGpuError):
        bugs.unmasked_load()
    x = torch.ones(100)
    assert torch.equal(programs.vector_add(x, x), x + x)
