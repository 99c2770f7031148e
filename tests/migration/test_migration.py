"""`kernelwright migrate`: a sample of the matrix, all of it as a slow test, and what it says of wrong input."""

import json
import os
import re
import subprocess

import pytest
from migration_rig import DSLS, FAMILIES, PROGRAM, TESTS, dsls_here, migrate, whole_matrix


def assert_carried(status, told):
    assert status == 0, told
    assert told["passed"] and told["author"] == "playbook"
    assert told["agreement"]["compared"] and told["agreement"]["within_tolerance"], told["agreement"]
    assert all(each["targets"] or each["why"] for each in told["strategies"]), told["strategies"]


def test_a_softmax_from_cpp_to_cuda_keeps_what_it_does(tmp_path):
    out = tmp_path / "softmax.cu"
    status, told = migrate("row_softmax.py", TESTS / "honest" / "softmax_online.cpp", "cpp", "cuda-c", out)
    assert_carried(status, told)
    assert told["agreement"]["largest_difference"] < 1e-4 < told["agreement"]["largest_value"]
    assert "__global__" in out.read_text()


def test_a_product_from_cuda_to_cpp(tmp_path):
    out = tmp_path / "matmul.cpp"
    assert_carried(*migrate("matmul.py", TESTS / "honest" / "matmul_tiled.cu", "cuda-c", "cpp", out))
    assert "__global__" not in out.read_text()


def test_a_product_from_opencl_to_cpp(tmp_path):
    if "opencl" not in dsls_here():
        pytest.skip("there is no OpenCL here")
    out = tmp_path / "matmul.cpp"
    assert_carried(*migrate("matmul.py", TESTS / "honest" / "matmul_local_tiles.cl", "opencl", "cpp", out))
    assert "kw:launch" not in out.read_text()


def test_the_command_that_repeats_the_verdict_runs_as_it_is_printed(tmp_path):
    """From the folder where it was printed, with a problem and a folder that a shell would take apart."""
    folder = tmp_path / "a folder"
    folder.mkdir()
    (folder / "soft max.py").write_text((TESTS / "problems" / "row_softmax.py").read_text())
    environment = {**os.environ, "KERNELWRIGHT_HOME": str(tmp_path / "home"), "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"}

    def run(words):
        return subprocess.run(words, capture_output=True, text=True, cwd=folder, env=environment, shell=isinstance(words, str))

    kernel = TESTS / "honest" / "softmax_online.cpp"
    done = run([str(PROGRAM), "migrate", "soft max.py", str(kernel), "--to", "opencl" if "opencl" in dsls_here() else "cuda-c"])
    assert done.returncode == 0, done.stderr
    command = re.search(r"^ +repeat +(kernelwright verify .*)$", done.stdout, re.MULTILINE)
    assert command, done.stdout
    again = run(command.group(1))
    assert again.returncode == 0 and "passed" in again.stdout, again
    # The source was judged, too; whoever asks about it is told its own file.
    known = run([str(PROGRAM), "verify", "soft max.py", str(kernel), "--json"])
    repeat = json.loads(known.stdout)["verdict"]["repeat"]
    assert "KERNEL" not in repeat and run(repeat).returncode == 0, repeat


def test_a_block_with_a_row_is_no_warp_with_a_row(tmp_path):
    """It computes the number of its warp, and shuffles; but its warps join what they found."""
    status, told = migrate("row_softmax.py", TESTS / "honest" / "softmax_block.cu", "cuda-c", "cute", tmp_path / "softmax.cu")
    assert_carried(status, told)
    carried = {each["source"]: each["targets"] for each in told["strategies"]}
    assert "warp_per_row" not in carried and "warp_reduce" in carried, carried


# One for each DSL that those above leave out, each for another family.
@pytest.mark.parametrize(("target", "problem", "kernel", "has"), [
    ("triton", "layer_norm.py", "layer_norm_two_pass.cpp", "@triton.jit"),
    ("tilelang", "scale_relu.py", "scale_relu_parallel.cpp", "@tilelang.jit"),
    ("opencl", "matmul.py", "matmul_register_tile.cpp", "kw:launch"),
])
def test_to_the_other_dsls(tmp_path, target, problem, kernel, has):
    if target not in dsls_here():
        pytest.skip(f"nothing here compiles {target}")
    out = tmp_path / f"kernel{DSLS[target]}"
    assert_carried(*migrate(problem, TESTS / "honest" / kernel, "cpp", target, out))
    assert has in out.read_text()


@pytest.mark.parametrize(("words", "says"), [
    (["--to", "fortran"], "there is no DSL 'fortran'"),
    (["--to", "cpp"], "is cpp already"),
    (["--to", "cuda-c", "--from", "cute"], "a kernel in cute is a .cu file"),
    (["--to", "kernelbench"], "no language of its own"),
])
def test_wrong_input_is_told(words, says):
    done = subprocess.run([str(PROGRAM), "migrate", str(TESTS / "problems" / "scale_relu.py"), str(TESTS / "honest" / "scale_relu_plain.cpp"), *words],
                          capture_output=True, text=True)
    assert done.returncode == 2 and says in done.stderr, done.stderr


@pytest.mark.slow
def test_the_whole_matrix(tmp_path):
    here, seen, wrong = dsls_here(), 0, []
    for family, source, target, status, told in whole_matrix(tmp_path):
        seen += 1
        if status != 0 or not told["agreement"]["within_tolerance"]:
            wrong.append((family, source, target, told))
    assert not wrong
    assert seen == len(FAMILIES) * len(here) * (len(here) - 1)
