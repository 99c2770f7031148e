"""Triton's interface to a device, as programs use it."""

import collections

import kernelwright_triton
import triton_programs as programs
import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def pair_kernel(pair, maybe_ptr, out_ptr, shift: tl.float16, wide: tl.float64, big, flag, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    value = tl.load(pair[0] + offsets) * pair[1]
    if maybe_ptr is not None:
        value += tl.load(maybe_ptr + offsets)
    if flag:
        value += shift
    value += wide.to(tl.float32) + (big >> 40)
    tl.store(out_ptr + offsets, value)


def test_tuples_none_and_every_kind_of_number():
    x, extra = torch.arange(64, dtype=torch.float32), torch.ones(64)
    for maybe in (None, extra):
        out = torch.empty(64)
        pair_kernel[(1,)]((x, 3), maybe, out, 0.5, 0.25, 1 << 42, True, BLOCK=64)
        assert torch.equal(out, x * 3 + (0 if maybe is None else 1) + 0.5 + 0.25 + 4)


@triton.jit
def bf16_kernel(out_ptr, value: tl.bfloat16):
    tl.store(out_ptr, value)


def test_a_bfloat16_number_is_rounded_to_the_nearest():
    out = torch.zeros(1, dtype=torch.bfloat16)
    for value in (1.0, 3.14159, -1e-20, 1.00390625, 1.01171875, 65536.7):
        bf16_kernel[(1,)](out, value)
        assert out.item() == torch.tensor(value).to(torch.bfloat16).item()


@triton.jit
def print_kernel(x_ptr):
    tl.device_print("value", tl.load(x_ptr + tl.program_id(0)))


def test_what_a_kernel_prints_is_python_output(capsys):
    print_kernel[(2,)](torch.tensor([7, 9], dtype=torch.int32), num_warps=1)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 64 and collections.Counter(line.split()[-1] for line in lines) == {"7": 32, "9": 32}


@triton.jit
def gather_kernel(table_ptr, out_ptr, BLOCK: tl.constexpr):
    source = tl.load(table_ptr + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + tl.program_id(0) * BLOCK + offsets, tl.load(source + offsets))


def test_tensors_behind_a_table_of_pointers_have_to_be_named():
    first, second, out = torch.randn(32), torch.randn(32), torch.empty(64)
    table = torch.tensor([first.data_ptr(), second.data_ptr()])
    with pytest.raises(kernelwright_triton.VirtualGpuError, match="out_of_bounds"):
        gather_kernel[(2,)](table, out, BLOCK=32)
    with kernelwright_triton.reachable(first=first, second=second):
        gather_kernel[(2,)](table, out, BLOCK=32)
    assert torch.equal(out, torch.cat((first, second)))


def test_a_view_is_checked_against_all_of_its_storage():
    x = torch.arange(100, dtype=torch.float32)
    assert torch.equal(programs.vector_add(x[10:60], x[50:]), x[10:60] + x[50:])


def test_properties_and_registers_are_there_for_programs_that_plan_with_them(virtual_gpu):
    driver = triton.runtime.driver.active
    properties = driver.utils.get_device_properties(driver.get_active_torch_device().index)
    assert properties["multiprocessor_count"] == 108 and properties["max_shared_mem"] == 163 * 1024
    assert driver.get_current_target().arch == 80
    kernel = programs.softmax_kernel.warmup(torch.empty(4, 64), torch.empty(4, 64), 64, 64, 4, 64, BLOCK=64, grid=(1,))
    kernel._init_handles()
    assert 8 <= kernel.n_regs <= 255 and kernel.n_spills == 0
    x, out = torch.randn(4, 64), torch.empty(4, 64)
    kernel[(2, 1, 1)](out, x, 64, 64, 4, 64, 64)
    assert torch.allclose(out, torch.softmax(x, 1), atol=1e-6)


def test_a_grid_of_nothing_runs_nothing():
    out = torch.full((4,), 3.0)
    programs.add_kernel[(0,)](out, out, out, 4, BLOCK=64)
    assert torch.equal(out, torch.full((4,), 3.0))


def test_counters_of_the_last_launch():
    device = kernelwright_triton.activate(counters=True)
    x = torch.ones(1024)
    programs.vector_add(x, x)
    counters = device.last_counters()
    assert (counters["global_load_bytes"], counters["global_store_bytes"], counters["flops_fp32"]) == (8192, 4096, 1024)


def test_do_bench_says_that_it_is_an_estimate():
    x = torch.ones(4096)
    with pytest.warns(UserWarning, match="an estimate for .*A100.*, not a measurement"):
        first = triton.testing.do_bench(lambda: programs.vector_add(x, x))
    assert 1e-4 < first < 1 and first == triton.testing.do_bench(lambda: programs.vector_add(x, x))


def test_an_autotuned_kernel_inside_of_do_bench_is_estimated_without_its_trials():
    x = torch.ones(2048)
    programs.tuned_scale_kernel.cache.clear()
    with_trials = triton.testing.do_bench(lambda: programs.tuned_scale(x, 2.0))
    assert with_trials == triton.testing.do_bench(lambda: programs.tuned_scale(x, 2.0))


def test_a_tensor_that_is_not_on_the_cpu_is_refused():
    meta = torch.empty(4, device="meta")
    with pytest.raises(TypeError, match="'x_ptr' is a tensor on 'meta'"):
        programs.add_kernel[(1,)](meta, meta, meta, 4, BLOCK=64)


def test_a_gpu_that_is_not_known_is_refused():
    with pytest.raises(kernelwright_triton.SetupError, match="a1000") as caught:
        kernelwright_triton.activate(gpu="a1000")
    assert "h100" in str(caught.value)


def test_deactivate_brings_back_what_was_there():
    kernelwright_triton.deactivate()
    assert kernelwright_triton.active_device() is None
    assert triton.testing.do_bench.__module__ == "triton.testing"
