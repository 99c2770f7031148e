"""Triton programs as users write them. Nothing here knows of the virtual GPU: the same file runs on it, on a GPU and in Triton's
interpreter."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def vector_add(x, y, block=1024):
    out = torch.empty_like(x)
    n = out.numel()
    add_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, out, n, BLOCK=block)
    return out


@triton.jit
def softmax_kernel(out_ptr, in_ptr, in_stride, out_stride, rows, columns, BLOCK: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        offsets = tl.arange(0, BLOCK)
        mask = offsets < columns
        values = tl.load(in_ptr + row * in_stride + offsets, mask=mask, other=-float("inf")).to(tl.float32)
        shifted = values - tl.max(values, axis=0)
        numerator = tl.exp(shifted)
        result = numerator / tl.sum(numerator, axis=0)
        tl.store(out_ptr + row * out_stride + offsets, result.to(out_ptr.dtype.element_ty), mask=mask)


def softmax(x, programs=6):
    rows, columns = x.shape
    out = torch.empty_like(x)
    softmax_kernel[(min(programs, rows),)](out, x, x.stride(0), out.stride(0), rows, columns, BLOCK=triton.next_power_of_2(columns),
                                           num_warps=4)
    return out


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
                  BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
                  ACTIVATION: tl.constexpr, PRECISION: tl.constexpr):
    pid = tl.program_id(0)
    tiles_m, tiles_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    per_group = GROUP * tiles_n
    first_m = (pid // per_group) * GROUP
    group_m = min(tiles_m - first_m, GROUP)
    tile_m = first_m + (pid % per_group) % group_m
    tile_n = (pid % per_group) // group_m
    rows = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    columns = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    ks = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + rows[:, None] * stride_am + ks[None, :] * stride_ak
    b_ptrs = b_ptr + ks[:, None] * stride_bk + columns[None, :] * stride_bn
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=ks[None, :] < K - k * BLOCK_K, other=0.0)
        b = tl.load(b_ptrs, mask=ks[:, None] < K - k * BLOCK_K, other=0.0)
        total = tl.dot(a, b, total, input_precision=PRECISION)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    if ACTIVATION == "leaky_relu":
        total = leaky_relu(total)
    out_rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    out_columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + out_rows[:, None] * stride_cm + out_columns[None, :] * stride_cn
    tl.store(c_ptrs, total.to(c_ptr.dtype.element_ty), mask=(out_rows[:, None] < M) & (out_columns[None, :] < N))


def matmul(a, b, activation="", precision="ieee", block=(32, 32, 32), warps=4, stages=3):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    grid = lambda meta: (triton.cdiv(M, meta["BLOCK_M"]) * triton.cdiv(N, meta["BLOCK_N"]),)  # noqa: E731
    matmul_kernel[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride(), BLOCK_M=block[0], BLOCK_N=block[1],
                        BLOCK_K=block[2], GROUP=2, ACTIVATION=activation, PRECISION=precision, num_warps=warps, num_stages=stages)
    return c


@triton.jit
def layer_norm_kernel(x_ptr, y_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, stride, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * stride + columns, mask=columns < N, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / N
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride + columns, mask=columns < N, other=0.0).to(tl.float32)
        centred = tl.where(columns < N, x - mean, 0.0)
        squares += centred * centred
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / N + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < N
        w = tl.load(w_ptr + columns, mask=mask).to(tl.float32)
        b = tl.load(b_ptr + columns, mask=mask).to(tl.float32)
        x = tl.load(x_ptr + row * stride + columns, mask=mask, other=0.0).to(tl.float32)
        tl.store(y_ptr + row * stride + columns, (x - mean) * rstd * w + b, mask=mask)


@triton.jit
def layer_norm_backward_kernel(dx_ptr, dy_ptr, dw_part_ptr, db_part_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, lock_ptr, stride, N,
                               GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < N
    x = tl.load(x_ptr + row * stride + columns, mask=mask, other=0).to(tl.float32)
    dy = tl.load(dy_ptr + row * stride + columns, mask=mask, other=0).to(tl.float32)
    w = tl.load(w_ptr + columns, mask=mask).to(tl.float32)
    mean, rstd = tl.load(mean_ptr + row), tl.load(rstd_ptr + row)
    hat = tl.where(mask, (x - mean) * rstd, 0.0)
    scaled = tl.where(mask, w * dy, 0.0)
    along = tl.sum(hat * scaled, axis=0) / N
    shift = tl.sum(scaled, axis=0) / N
    tl.store(dx_ptr + row * stride + columns, (scaled - (hat * along + shift)) * rstd, mask=mask)
    # The rows of a group add up to one row of partial sums, one after the other.
    group = row % GROUPS
    lock = lock_ptr + group
    count_ptr = lock + GROUPS
    dw_part_ptrs = dw_part_ptr + group * N + columns
    db_part_ptrs = db_part_ptr + group * N + columns
    dw, db = dy * hat, dy
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    count = tl.load(count_ptr)
    if count == 0:
        tl.atomic_xchg(count_ptr, 1)
    else:
        dw += tl.load(dw_part_ptrs, mask=mask)
        db += tl.load(db_part_ptrs, mask=mask)
    tl.store(dw_part_ptrs, dw, mask=mask)
    tl.store(db_part_ptrs, db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def sum_groups_kernel(part_ptr, final_ptr, groups, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    columns = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, groups, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        mask = (rows[:, None] < groups) & (columns[None, :] < N)
        total += tl.load(part_ptr + rows[:, None] * N + columns[None, :], mask=mask, other=0.0)
    tl.store(final_ptr + columns, tl.sum(total, axis=0), mask=columns < N)


class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, eps):
        rows, N = x.shape
        y = torch.empty_like(x)
        mean = torch.empty(rows, dtype=torch.float32, device=x.device)
        rstd = torch.empty(rows, dtype=torch.float32, device=x.device)
        layer_norm_kernel[(rows,)](x, y, weight, bias, mean, rstd, x.stride(0), N, eps, BLOCK=128)
        ctx.save_for_backward(x, weight, mean, rstd)
        return y

    @staticmethod
    def backward(ctx, dy):
        x, weight, mean, rstd = ctx.saved_tensors
        (rows, N), groups = x.shape, 4
        locks = torch.zeros(2 * groups, dtype=torch.int32, device=x.device)
        dw_part = torch.zeros((groups, N), dtype=torch.float32, device=x.device)
        db_part = torch.zeros((groups, N), dtype=torch.float32, device=x.device)
        dx, dw, db = torch.empty_like(x), torch.empty_like(weight), torch.empty_like(weight)
        layer_norm_backward_kernel[(rows,)](dx, dy.contiguous(), dw_part, db_part, x, weight, mean, rstd, locks, x.stride(0), N,
                                            GROUPS=groups, BLOCK=triton.next_power_of_2(N))
        grid = lambda meta: (triton.cdiv(N, meta["BLOCK_N"]),)  # noqa: E731
        sum_groups_kernel[grid](dw_part, dw, min(groups, rows), N, BLOCK_M=4, BLOCK_N=64)
        sum_groups_kernel[grid](db_part, db, min(groups, rows), N, BLOCK_M=4, BLOCK_N=64)
        return dx, dw, db, None


def layer_norm(x, weight, bias, dy, eps=1e-5):
    """(y, dx, dweight, dbias)"""
    x, weight, bias = (each.clone().requires_grad_() for each in (x, weight, bias))
    y = LayerNorm.apply(x, weight, bias, eps)
    y.backward(dy)
    return y.detach(), x.grad, weight.grad, bias.grad


@triton.jit
def dropout_kernel(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    keep = tl.rand(seed, offsets) > p
    tl.store(out_ptr + offsets, tl.where(keep, x / (1 - p), 0.0), mask=mask)


def dropout(x, p, seed):
    out = torch.empty_like(x)
    dropout_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), p, seed, BLOCK=256)
    return out


@triton.jit
def attention_kernel(q_ptr, k_ptr, v_ptr, out_ptr, stride_h, stride_m, length, scale, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                     HEAD: tl.constexpr, CAUSAL: tl.constexpr, PRECISION: tl.constexpr):
    start_m, head = tl.program_id(0), tl.program_id(1)
    rows = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, HEAD)
    base = head * stride_h
    q = tl.load(q_ptr + base + rows[:, None] * stride_m + dims[None, :], mask=rows[:, None] < length, other=0.0)
    best = tl.full([BLOCK_M], -float("inf"), dtype=tl.float32)
    weight = tl.zeros([BLOCK_M], dtype=tl.float32)
    total = tl.zeros([BLOCK_M, HEAD], dtype=tl.float32)
    last = (start_m + 1) * BLOCK_M if CAUSAL else length
    for start_n in range(0, last, BLOCK_N):
        columns = start_n + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + base + columns[:, None] * stride_m + dims[None, :], mask=columns[:, None] < length, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision=PRECISION) * (scale * 1.44269504)
        valid = columns[None, :] < length
        if CAUSAL:
            valid = valid & (rows[:, None] >= columns[None, :])
        scores = tl.where(valid, scores, -1.0e30)
        new_best = tl.maximum(best, tl.max(scores, 1))
        shrink = tl.exp2(best - new_best)
        p = tl.exp2(scores - new_best[:, None])
        weight = weight * shrink + tl.sum(p, 1)
        v = tl.load(v_ptr + base + columns[:, None] * stride_m + dims[None, :], mask=columns[:, None] < length, other=0.0)
        total = tl.dot(p.to(v.dtype), v, total * shrink[:, None], input_precision=PRECISION)
        best = new_best
    result = total / weight[:, None]
    tl.store(out_ptr + base + rows[:, None] * stride_m + dims[None, :], result.to(out_ptr.dtype.element_ty), mask=rows[:, None] < length)


def attention(q, k, v, causal=False):
    heads, length, size = q.shape
    out = torch.empty_like(q)
    attention_kernel[(triton.cdiv(length, 32), heads)](q, k, v, out, q.stride(0), q.stride(1), length, size**-0.5, BLOCK_M=32,
                                                       BLOCK_N=32, HEAD=size, CAUSAL=causal, PRECISION="ieee", num_warps=4)
    return out


@triton.autotune(configs=[triton.Config({"BLOCK": 64}, num_warps=1), triton.Config({"BLOCK": 1024}, num_warps=4)], key=["n"],
                 reset_to_zero=["calls_ptr"])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def tuned_scale_kernel(x_ptr, out_ptr, calls_ptr, n, factor, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        x = tl.load(x_ptr + offsets)
        tl.store(out_ptr + offsets, x * factor)
    else:
        x = tl.load(x_ptr + offsets, mask=offsets < n)
        tl.store(out_ptr + offsets, x * factor, mask=offsets < n)
    tl.atomic_add(calls_ptr, 1)


def tuned_scale(x, factor):
    """(the product, how many programs ran in the last launch)"""
    out, calls = torch.empty_like(x), torch.zeros(1, dtype=torch.int32, device=x.device)
    tuned_scale_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, out, calls, x.numel(), factor)
    return out, calls


@triton.jit
def multiply(a, b):
    return a * b


@triton.jit
def scan_kernel(x_ptr, sums_ptr, products_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + columns, mask=columns < N, other=0.0).to(tl.float32)
    tl.store(sums_ptr + row * N + columns, tl.cumsum(x, axis=0), mask=columns < N)
    products = tl.associative_scan(1 + x / 8, 0, multiply)
    tl.store(products_ptr + row * N + columns, products, mask=columns < N)


def scans(x):
    """(running sums, running products of 1 + x / 8), along rows"""
    rows, N = x.shape
    sums, products = torch.empty_like(x), torch.empty_like(x)
    scan_kernel[(rows,)](x, sums, products, N, BLOCK=triton.next_power_of_2(N))
    return sums, products


@triton.jit
def histogram_kernel(x_ptr, counts_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    bins = tl.load(x_ptr + offsets, mask=mask, other=0)
    tl.atomic_add(counts_ptr + bins, 1, mask=mask)


def histogram(x, bins):
    counts = torch.zeros(bins, dtype=torch.int32, device=x.device)
    histogram_kernel[(triton.cdiv(x.numel(), 512),)](x, counts, x.numel(), BLOCK=512)
    return counts
