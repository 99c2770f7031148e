"""Every family of the playbook on float16 and bfloat16, in every language, judged as a user's kernel would be; and at least as near to
float64 as PyTorch's own results are."""

import json
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from cli import PASSED  # noqa: E402
from cli import kw, shared_cache  # noqa: E402, F401: fixtures
from half_cases import FAMILIES, TYPES, half_problem  # noqa: E402
from nvidia import BINARY, find_nvcc  # noqa: E402
from playbook import KERNELS, Problems, run_trials, written  # noqa: E402
from test_playbook import SETS  # noqa: E402

pytestmark = pytest.mark.skipif(not KERNELS.is_file(), reason="gpu_kernels was not built")


def of_pool(folder):
    return [each["id"] for path in sorted((ROOT / "knowledge" / "strategies" / folder).glob("*.json"))
            for each in json.loads(path.read_text(encoding="utf-8"))]


def has_package(name):
    return any((ROOT / ".venv").glob(f"lib/python*/site-packages/{name}")) and find_nvcc() is not None


def has_opencl():
    clc = BINARY.parent / "kw-clc"
    return clc.is_file() and subprocess.run([str(clc), "describe"], capture_output=True).returncode == 0


# A language: whether it is here, the end of its files, and what is asked for.
LANGUAGES = {
    "cpp": (lambda: True, "cpp", [each for each in of_pool(".") if each not in ("winograd", "two_pass_stats")]),
    "cuda-c": (lambda: find_nvcc() is not None, "cu", SETS["all"]),
    "cute": (lambda: find_nvcc() is not None, "cu", SETS["all"]),
    "triton": (lambda: has_package("triton"), "py", SETS["all"]),
    "tilelang": (lambda: has_package("tilelang"), "py", SETS["all"]),
    "opencl": (has_opencl, "cl", [each for each in of_pool("opencl") if each != "cl_online_row"]),
}


def with_every_change(types, first):
    """Every language with every type; where compiling takes half a minute, with the first one alone in each change."""
    slow = {"cute", "tilelang"}
    return [pytest.param(language, dtype, marks=[pytest.mark.slow] if language in slow and dtype != first else []) for language in LANGUAGES for dtype in types]


@pytest.fixture(scope="module")
def problems(tmp_path_factory):
    return Problems(tmp_path_factory.mktemp("problems"))


@pytest.mark.parametrize("form", [pytest.param("plain", marks=pytest.mark.slow), "all"])
@pytest.mark.parametrize("language, dtype", with_every_change(TYPES, "float16"))
def test_every_family_passes_in_every_language(problems, kw, tmp_path, language, dtype, form):  # noqa: F811
    here, ending, strategies = LANGUAGES[language]
    if not here():
        pytest.skip(f"{language} is not here")
    problems.of(dtype, half_problem(FAMILIES, dtype))
    trial, = written(problems, [(f"{language}_{dtype}_{form}", dtype, strategies if form == "all" else [], {"dsl": language})])
    file = tmp_path / f"kernel.{ending}"
    file.write_text(trial.kernel["source"], encoding="utf-8")
    run = kw("verify", problems.folder / f"{dtype}.py", file, *(["--dsl", "cute"] if language == "cute" else []))
    assert run.status == PASSED, f"{run}\n{trial.kernel['source']}"


@pytest.mark.skipif(find_nvcc() is None, reason="there is no nvcc")
@pytest.mark.parametrize("dtype", TYPES)
def test_no_rounding_is_added_to_pytorchs(problems, tmp_path, dtype):
    """What float16 attention rounded after every operation was twice as far from float64 as PyTorch's."""
    names = [f"{name}_{dtype}" for name in FAMILIES]
    for name in FAMILIES:
        problems.of(f"{name}_{dtype}", half_problem([name], dtype))
    trials = written(problems, [(name, name, SETS["all"], {}) for name in names])
    run = run_trials(trials, tmp_path)
    assert not run.json["findings"], run
    half_a_step = 2.0 ** -11 if dtype == "float16" else 2.0 ** -8
    for trial in trials:
        worst, noise = trial.error()
        # The second product of an attention takes rounded probabilities, for tensor cores; on a processor PyTorch may not round them.
        factors = half_a_step / 2 if "attention" in trial.name else 0
        assert worst <= max(1.1 * noise, half_a_step) + factors, f"{trial.name}: {worst} beside eager's {noise}"


def test_sixteen_bits_use_vectors_and_tensor_cores(problems):
    problems.of("layers", half_problem(["two_layers"], "float16"))
    problems.of("chain", half_problem(["pointwise"], "bfloat16"))
    layers, chain = written(problems, [("layers", "layers", SETS["all"], {}), ("chain", "chain", SETS["all"], {})])
    assert {"tensor_core", "async_copy", "vector_load"} <= set(layers.kernel["claims"])
    assert "vector_load" in chain.kernel["claims"]
    for name, strategies in (("layers", []), ("chain", [])):
        plain, = written(problems, [(name, name, strategies, {})])
        assert not plain.kernel["claims"], "to round while storing is no fusion that was asked for"
