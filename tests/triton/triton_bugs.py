"""One seeded bug each; `# expect: kind` stands on the line where it has to be found."""

import torch
import triton
import triton.language as tl


@triton.jit
def unmasked_load_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)  # expect: out_of_bounds
    tl.store(out_ptr + offsets, x, mask=offsets < n)


def unmasked_load():
    x = torch.ones(1000)
    unmasked_load_kernel[(4,)](x, torch.empty(1000), 1000, BLOCK=256)


@triton.jit
def unmasked_store_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.store(out_ptr + offsets, 2 * x)  # expect: out_of_bounds


def unmasked_store():
    x = torch.ones(1000)
    unmasked_store_kernel[(4,)](x, torch.empty(1000), 1000, BLOCK=256)


@triton.jit
def load_tile(ptr, row, columns):
    return tl.load(ptr + row * 64 + columns)  # expect: out_of_bounds


@triton.jit
def helper_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    tl.store(out_ptr + row, tl.sum(load_tile(x_ptr, row + 1, columns), axis=0))


def helper():
    helper_kernel[(4,)](torch.ones(4, 64), torch.empty(4), BLOCK=64)


@triton.jit
def racing_sum_kernel(x_ptr, total_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    part = tl.sum(tl.load(x_ptr + offsets), axis=0)
    tl.store(total_ptr, tl.load(total_ptr) + part)  # expect: global_race


def racing_sum():
    racing_sum_kernel[(8,)](torch.ones(1024), torch.zeros(1), BLOCK=128)


@triton.jit
def in_place_shift_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets + 1, mask=offsets + 1 < n)  # expect: global_race
    tl.store(x_ptr + offsets, x, mask=offsets + 1 < n)  # expect: global_race


def in_place_shift():
    in_place_shift_kernel[(4,)](torch.arange(512, dtype=torch.float32), 512, BLOCK=128)


@triton.jit
def assert_kernel(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.device_assert(x < 100, "too large")  # expect: assert


def failing_assert():
    assert_kernel[(1,)](torch.arange(128, dtype=torch.float32), BLOCK=128, debug=True)


@triton.jit
def endless_kernel(flag_ptr):
    while tl.atomic_add(flag_ptr, 0) == 0:  # expect: timeout
        pass


def endless():
    endless_kernel[(1,)](torch.zeros(1, dtype=torch.int32))


BUGS = [unmasked_load, unmasked_store, helper, racing_sum, in_place_shift, failing_assert]
