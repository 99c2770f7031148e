"""Kernels as packages, libraries and files for others: what is in them, and, slowly, that each is built, installed, used and right."""

import importlib.util
import json
import os
import pathlib
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

from cli import PASSED, Kernelwright  # noqa: E402
from cli import kw, shared_cache  # noqa: E402, F401: fixtures
from exported import copy_of_problem, fresh_environment, plant_winner, run_in  # noqa: E402

# What is particular about each: plain, weights, repacked weights, numbers, two outputs, strides, a struct of arguments, half precision, integers out.
KERNELS = {"gelu": ("gelu.py", "gelu_plain.cpp"), "layer_norm": ("layer_norm.py", "layer_norm_welford.cpp"), "prepared": ("linear_relu.py", "linear_relu_prepared.cpp"),
           "scalars": ("affine_scalars.py", "affine_scalars_plain.cpp"), "two_outputs": ("sum_and_difference.py", "sum_and_difference_plain.cpp"),
           "strided": ("transposed_input.py", "transposed_input_strides.cpp"), "many": ("many_parameters.py", "many_parameters_prepared.cpp"),
           "channels_last": ("channels_last_pointwise.py", "channels_last_strides.cpp"),
           "half": ("bfloat16_mul.py", "bfloat16_mul_plain.cpp"), "integers": ("argmax.py", "argmax_plain.cpp")}


def exported(kw, folder, name, form, *more):
    problem, kernel = KERNELS[name]
    run = plant_winner(kw, copy_of_problem(problem, folder), kernel)
    out = folder / (f"{name}_{form}.py" if form == "kernelbench" else f"{name}_{form}")
    made = kw("export", run, "--as", form, "--out", out, "--name", f"kw_{name}", "--json", *more)
    assert made.status == PASSED, made
    said = made.json
    standing = said.pop("against_pytorch")
    assert said == {"run": run, "kernel": 0, "as": form, "name": f"kw_{name}", "out": str(out)}
    assert standing["standing"] == "faster" and "2.00x the speed of eager" in standing["words"]
    return out


def test_a_package_has_the_kernel_its_original_and_its_evidence(kw, tmp_path):
    package = exported(kw, tmp_path, "scalars", "torch")
    inside = package / "src" / "kw_scalars"
    assert (inside / "original.py").read_text() == (tmp_path / "affine_scalars.py").read_text()
    assert "kw_kernel" in (inside / "sources" / "kernel.cpp").read_text()
    assert '"forward(Tensor x, float scale, int offset, bool negate) -> Tensor"' in (inside / "sources" / "contract.h").read_text()
    contract = json.loads((inside / "contract.json").read_text())
    assert contract["parameters"] == ["x", "scale", "offset", "negate"] and contract["returns"] == {"leaf": 0}
    assert [spec["kind"] for spec in contract["inputs"]] == ["input", "scalar", "scalar", "scalar"]
    evidence = json.loads((inside / "evidence.json").read_text())
    assert evidence["timing"]["comparisons"][0]["interval"] == {"low": 1.9, "high": 2.1} and evidence["precision"] == "float32"
    repeat = evidence["repeat"][0].split()
    assert repeat[:2] == ["kernelwright", "verify"]
    again = kw(*repeat[1:], folder=package)  # the command that it names works where it stands
    assert again.status == PASSED, again
    for file in package.rglob("*"):
        assert file.is_dir() or not re.search("@[a-z_]+@", file.read_text()), f"{file} has a name that was not filled in"
        assert str(tmp_path) not in ("" if file.is_dir() else file.read_text()), f"{file} names a folder of this machine"


def test_knobs_are_the_defaults_of_what_is_exported(kw, tmp_path):
    run = plant_winner(kw, copy_of_problem("matmul.py", tmp_path), "matmul_blocked.cpp", knobs={"KW_TILE_M": "16"})
    made = kw("export", run, "--as", "kernelbench", "--out", tmp_path / "solution.py")
    assert made.status == PASSED and made.out == f"{tmp_path / 'solution.py'}\n", made
    text = (tmp_path / "solution.py").read_text()
    assert "#define KW_TILE_M 16" in text and "class ModelNew(KernelModule, Model):" in text
    compile(text, "solution.py", "exec")


def test_a_library_for_cpp_says_what_it_takes(kw, tmp_path):
    library = exported(kw, tmp_path, "half", "cpp")
    header = (library / "include" / "kw_half.h").read_text()
    assert "const std::uint16_t*" in header and "_shape[] = {" in header
    assert "expected::given" in (library / "tests" / "test.cpp").read_text()
    refused = kw("export", "1", "--as", "cpp", "--out", library, "--name", "kw_half")
    assert refused.status == 2 and "--force" in refused.err, refused
    (library / "mine.txt").write_text("stays")
    again = kw("export", "1", "--as", "cpp", "--out", library, "--name", "kw_half", "--force")
    assert again.status == PASSED and (library / "mine.txt").read_text() == "stays", again


@pytest.fixture(scope="module")
def workshop(shared_cache, tmp_path_factory):
    """A home, a folder, and the interpreter of a fresh environment in it."""
    folder = tmp_path_factory.mktemp("exports")
    return Kernelwright(folder / "home", shared_cache), folder, fresh_environment(folder)


@pytest.mark.slow
@pytest.mark.parametrize("name", KERNELS)
def test_a_package_is_installed_and_passes_its_own_tests(workshop, name):
    kw, folder, python = workshop
    package = exported(kw, folder, name, "torch")
    run_in(folder, python, "-m", "pip", "install", "--no-index", package)
    said = run_in(package, python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
    assert " passed" in said and "failed" not in said, said
    measured = json.loads(run_in(folder, python, "-m", f"kw_{name}.measure", "--json", "--seconds", "0.5").strip().splitlines()[-1])
    assert measured["measured"]["eager"]["pairs"] >= 8 and measured["claimed"]["eager"]["speedup"] == 2.0


@pytest.mark.slow
def test_a_block_in_channels_last_hands_the_format_on_to_the_next(workshop):
    kw, folder, python = workshop
    package = exported(kw, folder, "channels_last", "torch", "--force")
    run_in(folder, python, "-m", "pip", "install", "--no-index", "--force-reinstall", "--no-deps", package)
    script = ("import kw_channels_last as exported, torch\n"
              "first, second = (exported.Model(strict=True).eval() for _ in range(2))\n"
              "(x,) = exported.original.get_inputs()\n"
              "original = exported.original.Model()\n"
              "with torch.no_grad():\n"
              "    between = first(x)\n"
              "    assert between.is_contiguous(memory_format=torch.channels_last) and not between.is_contiguous()\n"
              "    assert second.why_not(between) is None\n"
              "    torch.testing.assert_close(second(between), original(original(x)))\n"
              "    whole = torch.compile(torch.nn.Sequential(first, second), backend='eager', fullgraph=True)\n"
              "    assert whole(x).stride() == original(x).stride()\n"
              "print('handed on')\n")
    assert "handed on" in run_in(folder, python, "-c", script)


@pytest.mark.slow
def test_a_processor_without_the_instructions_gets_the_original(workshop):
    kw, folder, python = workshop
    package = exported(kw, folder, "gelu", "torch", "--force")
    run_in(folder, python, "-m", "pip", "install", "--no-index", "--force-reinstall", "--no-deps", package)
    script = ("import json, pathlib, importlib.util, warnings\n"
              "built = pathlib.Path(importlib.util.find_spec('kw_gelu').origin).with_name('built_for.json')\n"
              "facts = json.loads(built.read_text()); facts['features'].append('avx9000'); built.write_text(json.dumps(facts))\n"
              "with warnings.catch_warnings(record=True) as seen:\n"
              "    warnings.simplefilter('always')\n"
              "    import kw_gelu, torch\n"
              "assert [w for w in seen if 'avx9000' in str(w.message)] and kw_gelu.OPERATOR is None\n"
              "model, x = kw_gelu.Model().eval(), kw_gelu.original.get_inputs()\n"
              "with torch.no_grad():\n"
              "    assert 'avx9000' in model.why_not(*x)\n"
              "    assert torch.equal(model(*x), kw_gelu.original.Model()(*x))\n"
              "print('fell back')\n")
    assert "fell back" in run_in(folder, python, "-c", script)


@pytest.mark.slow
@pytest.mark.parametrize("name", KERNELS)
def test_a_library_is_built_and_passes_its_own_tests(workshop, name):
    kw, folder, _ = workshop
    library = exported(kw, folder, name, "cpp")
    run_in(library, "cmake", "-B", "build", "-DBUILD_SHARED_LIBS=ON")
    run_in(library, "cmake", "--build", "build")
    said = run_in(library, "ctest", "--test-dir", "build", "--output-on-failure")
    assert "100% tests passed" in said and "is_right" in said, said


@pytest.mark.slow
def test_a_library_whose_kernel_is_wrong_fails_its_own_tests(workshop):
    kw, folder, _ = workshop
    library = exported(kw, folder, "layer_norm", "cpp", "--force")
    kernel = library / "src" / "kernel.cpp"
    text = kernel.read_text()
    assert "weight[" in text
    kernel.write_text(text.replace("weight[", "1.001f * weight[", 1))
    run_in(library, "cmake", "-B", "build")
    run_in(library, "cmake", "--build", "build")
    with pytest.raises(AssertionError, match="should be"):
        run_in(library, "ctest", "--test-dir", "build", "--output-on-failure")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["layer_norm", "prepared"])
def test_a_kernelbench_solution_is_verified_as_any_file_with_model_new(kw, tmp_path, name):  # noqa: F811
    solution = exported(kw, tmp_path, name, "kernelbench")
    judged = kw("verify", tmp_path / KERNELS[name][0], solution, "--json")
    assert judged.status == PASSED and judged.json["key"]["dsl"] == "kernelbench", judged


@pytest.mark.slow
@pytest.mark.parametrize("name", ["prepared", "two_outputs"])
def test_a_kernelbench_solution_gives_what_the_problem_gives(workshop, name):
    kw, folder, python = workshop
    solution = exported(kw, folder, name, "kernelbench")
    script = ("import runpy, sys, torch\n"
              "from torch.utils import _pytree as pytree\n"
              "names = runpy.run_path(sys.argv[1])\n"
              "torch.manual_seed(3); model = names['Model'](*names['get_init_inputs']()).eval()\n"
              "torch.manual_seed(3); new = names['ModelNew'](*names['get_init_inputs']()).eval()\n"
              "x = names['get_inputs']()\n"
              "with torch.no_grad():\n"
              "    assert new.why_not(*x) is None\n"
              "    for a, b in zip(pytree.tree_leaves(model(*x)), pytree.tree_leaves(new(*x)), strict=True):\n"
              "        torch.testing.assert_close(b, a, rtol=1e-4, atol=1e-4)\n"
              "print('agree')\n")
    assert "agree" in run_in(folder, python, "-c", script, solution)


@pytest.mark.slow
def test_a_hub_repository_is_loaded_by_hugging_faces_package(workshop):
    kw, folder, python = workshop
    if importlib.util.find_spec("kernels") is None:
        pytest.skip("the package 'kernels' is not installed: tools/setup --slow")
    repository = exported(kw, folder, "prepared", "hub")
    script = ("import pathlib, sys, torch\n"
              "from kernels import get_local_kernel\n"
              "kernel = get_local_kernel(pathlib.Path(sys.argv[1]), backend='cpu')\n"
              "model = kernel.Model(*kernel.original.get_init_inputs()).eval()\n"
              "plain = kernel.original.Model(*kernel.original.get_init_inputs()).eval()\n"
              "plain.load_state_dict(model.state_dict())\n"
              "x = kernel.original.get_inputs()\n"
              "with torch.no_grad():\n"
              "    assert model.why_not(*x) is None\n"
              "    torch.testing.assert_close(model(*x), plain(*x), rtol=1e-4, atol=1e-4)\n"
              "print('agree')\n")
    assert "agree" in run_in(folder, python, "-c", script, repository, env={**os.environ, "HF_HUB_OFFLINE": "1"})
