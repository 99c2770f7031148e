"""The virtual GPU for every test here, and Triton's cache in a folder of its own: what is tested was compiled now."""

import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
for folder in (HERE, HERE.parents[1] / "python", HERE.parents[1] / "tests" / "cuda"):
    sys.path.insert(0, str(folder))


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    import triton

    folder = tmp_path_factory.mktemp("triton")
    with triton.knobs.cache.scope():
        triton.knobs.cache.dir = str(folder)
        yield folder


@pytest.fixture(autouse=True)
def virtual_gpu():
    import kernelwright_triton

    yield kernelwright_triton.activate(gpu="a100", checks=True, counters=False, threads=2, timeout=120)
    kernelwright_triton.deactivate()
