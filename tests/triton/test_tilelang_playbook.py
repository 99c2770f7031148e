"""Kernels that the playbook writes in TileLang, over the cases of tests/cuda: judged as a user's would be, on the virtual GPU with all checks."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "cuda"), str(ROOT / "tests" / "support")]

from cli import PASSED  # noqa: E402
from cli import kw, shared_cache  # noqa: E402, F401: fixtures
from nvidia import find_nvcc  # noqa: E402
from playbook import Problems, written  # noqa: E402
from playbook_cases import CASES  # noqa: E402

pytestmark = pytest.mark.skipif(not any((ROOT / ".venv").glob("lib/python*/site-packages/tilelang")) or find_nvcc() is None,
                                reason="TileLang is not installed, or there is no nvcc")

ROWS = ["fuse_kernels", "fuse_row_kernel", "coalesce_rows", "launch_shape"]
FORMS = {
    "plain": [],
    "rows": ROWS,
    "all": [*ROWS, "warp_reduce", "shared_tile", "thread_tile", "fuse_tile_epilogue", "fuse_tile_prologue"],
    "warps": [*ROWS, "warp_reduce", "warp_per_row", "shared_tile"],
}
# What the forms of the families claim where they have something to do.
CLAIMS = {
    "softmax": {"rows": {"coalesce_rows", "launch_shape"}, "all": {"coalesce_rows", "warp_reduce"}, "warps": {"warp_per_row", "warp_reduce"}},
    "linear_gelu": {"all": {"shared_tile", "thread_tile", "fuse_tile_epilogue"}, "warps": {"shared_tile"}},
    "scaled_linear": {"all": {"shared_tile", "fuse_tile_prologue"}},
}
FAST = [("softmax", "all")]


@pytest.fixture(scope="module")
def problems(tmp_path_factory):
    return Problems(tmp_path_factory.mktemp("problems"))


def judged(problems, kw, name, form, folder):  # noqa: F811
    trial, = written(problems, [(f"{name}_{form}", name, FORMS[form], {"dsl": "tilelang"})])
    file = folder / f"{trial.entry}.py"
    file.write_text(trial.kernel["source"], encoding="utf-8")
    run = kw("verify", problems.folder / f"{name}.py", file)
    assert run.status == PASSED, f"{run}\n{trial.kernel['source']}"


@pytest.mark.parametrize("name", CLAIMS)
def test_a_kernel_claims_what_it_was_asked_for(problems, name):
    for form, expected in CLAIMS[name].items():
        trial, = written(problems, [(f"{name}_{form}", name, FORMS[form], {"dsl": "tilelang"})])
        assert expected <= set(trial.kernel["claims"]), trial.kernel["claims"]
        assert set(trial.kernel["claims"]) <= set(FORMS[form]), trial.kernel["claims"]


@pytest.mark.parametrize(("name", "form"), FAST)
def test_a_kernel_is_right(problems, kw, tmp_path, name, form):  # noqa: F811
    judged(problems, kw, name, form, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", list(CASES))
def test_every_family(problems, kw, tmp_path, name, form):  # noqa: F811
    judged(problems, kw, name, form, tmp_path)
