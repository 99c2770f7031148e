"""Counts that are known by hand: sectors of coalesced, strided and gathered accesses, passes over the banks, divergence, flops."""

import pytest
from nvidia import HERE, find_nvcc, vgpu

pytestmark = [pytest.mark.skipif(find_nvcc() is None, reason="there is no nvcc"), pytest.mark.slow]


@pytest.fixture(scope="module")
def kernels():
    run = vgpu("profile", HERE / "counters.cu", options=["--json"])
    assert run.status == 0, run
    return run.json["kernels"]


def counters(kernels, name, position=0):
    found = [kernel["counters"] for kernel in kernels if kernel["name"].startswith((name + "(", "void " + name + "<")) or
             kernel["name"] == name]
    assert found, [kernel["name"] for kernel in kernels]
    return found[position]


def of_stride(kernels, stride):
    return next(kernel["counters"] for kernel in kernels if kernel["name"].startswith(f"void bank_conflicts<{stride}>"))


@pytest.mark.parametrize("name, position, requests, sectors, read", [
    ("coalesced", 0, 8, 32, 1024),        # 2 blocks of 4 warps; 128 bytes are 4 sectors
    ("coalesced_vector", 0, 1, 16, 512),  # 512 bytes
    ("strided", 0, 1, 8, 128),            # every second float of 256 bytes
    ("strided", 1, 2, 64, 256),           # each lane has a sector of its own
    ("shifted", 0, 1, 5, 128),            # 128 bytes that begin inside a sector
    ("one_address", 0, 1, 1, None),
    ("gathered", 0, 2, 4 + 32, 256),      # the indices, then a sector for each
])
def test_sectors_of_global_loads(kernels, name, position, requests, sectors, read):
    got = counters(kernels, name, position)
    assert (got["global_load_requests"], got["global_load_sectors"]) == (requests, sectors), got
    if read is not None:
        assert got["global_load_bytes"] == read, got


def test_sectors_of_global_stores(kernels):
    got = counters(kernels, "coalesced")
    assert (got["global_store_requests"], got["global_store_sectors"], got["global_store_bytes"]) == (8, 32, 1024)


@pytest.mark.parametrize("stride, ways", [(1, 1), (2, 2), (3, 1), (8, 8), (32, 32)])
def test_bank_conflicts(kernels, stride, ways):
    got = of_stride(kernels, stride)
    assert got["shared_store_requests"] == stride and got["shared_load_requests"] == 1, got
    assert got["shared_wavefronts"] == stride + ways, got
    assert got.get("shared_conflicts", 0) == ways - 1, got


def test_divergence(kernels):
    got = counters(kernels, "divergent")
    assert got["divergent_branches"] == 2, got  # once in each warp; inside the loop all lanes that are there agree
    loop = [line for line in got["lines"] if line["lane_instructions"] == 16 * line["warp_instructions"]]
    assert loop, "the body of the loop runs with 16 lanes"


def test_flops(kernels):
    assert counters(kernels, "additions")["flops_fp32"] == 3 * 64 * 100 * 2
    assert counters(kernels, "product")["flops_tensor"] == 2 * 16 * 16 * 64


def test_barriers_and_atomics(kernels):
    assert counters(kernels, "barriers")["barriers"] == 2 * 4 * 5
    got = counters(kernels, "atomics")
    assert (got["atomics"], got["atomic_lanes"]) == (2, 64), got


def test_an_estimate_is_called_one(kernels):
    assert all(kernel["estimate"]["what"] == "estimate" and kernel["estimate"]["seconds"] > 0 for kernel in kernels)
    run = vgpu("profile", HERE / "counters.cu")
    assert "an estimate, not a measurement" in run.out and "counters.cu:" in run.out, run
