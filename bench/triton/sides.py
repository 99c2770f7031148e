"""One side of the comparison, in a process of its own: times programs of tests/triton on the virtual GPU or in Triton's interpreter.

    python sides.py vgpu|vgpu-unchecked|interpreter < names of cases, a line each > JSON lines

A line is timed when it is asked for, so that the sides can take turns."""

import json
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "triton"), str(ROOT / "python")]


def work(programs, torch):
    """Name -> (kind, a call). Shapes that the interpreter can do in seconds."""
    half = lambda *shape: torch.randn(shape, dtype=torch.float32).to(torch.float16)  # noqa: E731
    x, y = torch.randn(1 << 20), torch.randn(1 << 20)
    rows, weight, bias, dy = torch.randn(1024, 1024), torch.randn(1024), torch.randn(1024), torch.randn(1024, 1024)
    a, b = half(256, 256), half(256, 256)
    q, k, v = half(4, 256, 64), half(4, 256, 64), half(4, 256, 64)
    return {
        "vector add, 2^20 float32": ("pointwise", lambda: programs.vector_add(x, y)),
        "dropout, 2^20 float32": ("pointwise", lambda: programs.dropout(x, 0.5, 7)),
        "softmax, 1024 x 1024 float32": ("row", lambda: programs.softmax(rows, programs=1024)),
        "layer norm with backward, 1024 x 1024 float32": ("row", lambda: programs.layer_norm(rows, weight, bias, dy)),
        "running sums, 1024 x 1024 float32": ("row", lambda: programs.scans(rows)),
        "matmul, 256^3 float16": ("matmul", lambda: programs.matmul(a, b, block=(64, 64, 32))),
        "matmul, 256^3 float32": ("matmul", lambda: programs.matmul(a.float(), b.float(), block=(64, 64, 32))),
        "attention, 4 x 256 x 64 float16": ("matmul", lambda: programs.attention(q, k, v)),
    }


def main(side):
    import torch

    if side != "interpreter":
        import kernelwright_triton

        kernelwright_triton.activate(gpu="a100", checks=side == "vgpu")
    import triton_programs as programs

    torch.manual_seed(0)
    calls = work(programs, torch)
    print(json.dumps({name: kind for name, (kind, _) in calls.items()}), flush=True)
    warm = set()
    for line in sys.stdin:
        name = line.strip()
        if name not in warm and side != "interpreter":
            calls[name][1]()  # compiling is no part of it: Triton keeps what it compiled
        warm.add(name)
        wall, cpu = time.perf_counter(), time.process_time()
        calls[name][1]()
        print(json.dumps({"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
