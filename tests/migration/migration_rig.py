"""Migrations as a user runs them: which kernels, and what the command says of them."""

import functools
import json
import os
import pathlib
import subprocess
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
PROGRAM = pathlib.Path(os.environ.get("KERNELWRIGHT_BIN", ROOT / "build" / "release" / "bin" / "kernelwright"))

# A family, its problem, and the kernel in C++ that everything begins with.
FAMILIES = {
    "pointwise": ("scale_relu.py", "scale_relu_parallel.cpp"),
    "softmax": ("row_softmax.py", "softmax_online.cpp"),
    "layer norm": ("layer_norm.py", "layer_norm_two_pass.cpp"),
    "matmul": ("matmul.py", "matmul_register_tile.cpp"),
}
# Those that have a playbook; a DSL that joins gets its name and its extension here, and in DOCTOR what `doctor` calls its compiler.
DSLS = {"cpp": ".cpp", "cuda-c": ".cu", "cute": ".cu", "triton": ".py", "tilelang": ".py", "opencl": ".cl"}
DOCTOR = {"cuda-c": ["nvcc"], "cute": ["nvcc", "CuTe headers"], "triton": ["Triton"], "tilelang": ["nvcc", "TileLang"], "opencl": ["OpenCL"]}


@functools.cache
def dsls_here():
    """The DSLs whose compilers are installed."""
    told = subprocess.run([str(PROGRAM), "doctor", "--json"], capture_output=True, text=True, check=True, env=_environment())
    present = {each["what"] for each in json.loads(told.stdout)["findings"] if each["present"]}
    return [dsl for dsl in DSLS if present.issuperset(DOCTOR.get(dsl, []))]


def _environment():
    environment = dict(os.environ)
    if cache := os.environ.get("KW_TEST_CACHE"):
        environment["KERNELWRIGHT_CACHE"] = cache
    return environment


def migrate(problem, kernel, source, target, out, home=None):
    """Its exit status and answer; with a home, what was verified there before is not verified again."""
    words = [PROGRAM, "migrate", TESTS / "problems" / problem, kernel, "--from", source, "--to", target, "--out", out, "--json"]
    environment = _environment()
    with tempfile.TemporaryDirectory() as own:
        environment["KERNELWRIGHT_HOME"] = str(home or own)
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=900, env=environment)
    return done.returncode, json.loads(done.stdout)


def whole_matrix(folder, known=()):
    """Every ordered pair for every family: the first of a DSL comes from the kernel in C++, and is itself carried on to the others. Kernels stay in
    the folder; (family, source, target) in `known` are not done again."""
    for family, (problem, given) in FAMILIES.items():
        stem = pathlib.Path(problem).stem
        for source in dsls_here():
            kernel = TESTS / "honest" / given if source == "cpp" else pathlib.Path(folder) / f"{stem}-cpp-{source}{DSLS[source]}"
            for target in dsls_here():
                if source == target or (family, source, target) in known:
                    continue
                out = pathlib.Path(folder) / f"{stem}-{source}-{target}{DSLS[target]}"
                status, told = migrate(problem, kernel, source, target, out, pathlib.Path(folder) / "home")
                yield family, source, target, status, told


def row_of(family, source, target, told):
    if "error" in told:
        return f"| {family} | {source} | {target} | {told['error']['message']} | | |"
    carried = ", ".join(f"{each['source']} → {' + '.join(each['targets'])}" if each["targets"] != [each["source"]] else each["source"]
                        for each in told["strategies"] if each["targets"])
    left = ", ".join(each["source"] for each in told["strategies"] if not each["targets"])
    apart = told["agreement"]
    outputs = "same bits" if apart["bitwise"] else f"{apart['largest_difference']:.1g} apart of {apart['largest_value']:.2g}" if apart["compared"] else "not compared"
    return f"| {family} | {source} | {target} | {'passed, ' + outputs if told['passed'] else told['verdict']['verdict']} | {carried} | {left} |"
