"""How much faster the module is with its kernel in PyTorch itself, beside what was claimed: the two take turns in one process on the same inputs,
and the speedup is the centre of the ratios of their turns. `python -m @name@.measure --help` lists the choices."""

import argparse
import contextlib
import ctypes
import gc
import json
import math
import os
import pathlib
import statistics
import sys
import time

import torch

# What the claim was measured with: memory that was given back stays with the process, so that page faults do not drown either side.
CLAIM_SETTINGS = @timing_environment@
BLOCK_SECONDS, LEAST_PAIRS, INPUT_SETS = 0.06, 8, 4


def openmp_libraries() -> list:
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        paths = sorted({line.split(maxsplit=5)[5].rstrip("\n") for line in maps if "/lib" in line})
    loaded = [ctypes.CDLL(path) for path in paths if os.path.basename(path).startswith(("libgomp", "libiomp", "libomp"))]
    return [library for library in loaded if hasattr(library, "GOMP_parallel") and hasattr(library, "omp_get_thread_num")]


@contextlib.contextmanager
def one_thread_a_core():
    """As the claim was measured: left alone, the scheduler may let two threads share a core for many calls. Does nothing where there are not as many cores as threads."""
    cores, threads, work_of = sorted(os.sched_getaffinity(0)), torch.get_num_threads(), ctypes.CFUNCTYPE(None, ctypes.c_void_p)

    def place(cores_of):
        for library in openmp_libraries():
            def work(_, library=library):
                os.sched_setaffinity(0, cores_of(library.omp_get_thread_num()))

            library.GOMP_parallel(work_of(work), None, ctypes.c_uint(threads), ctypes.c_uint(0))

    if threads < 2 or len(cores) != threads:
        yield
        return
    try:
        place(lambda number: {cores[number % len(cores)]})
        yield
    finally:
        place(lambda number: set(cores))


def quick_call(seconds: list) -> float:
    """The lowest decile: what the machine's other work did not disturb."""
    return sorted(seconds)[len(seconds) // 10]


def centre(ratios: list) -> tuple[float, float, float]:
    """The ratios' centre with a 95% interval, by signed ranks of their logarithms."""
    logs = [math.log(ratio) for ratio in ratios]
    averages = sorted((a + b) / 2 for i, a in enumerate(logs) for b in logs[i:])
    n = len(logs)
    spread = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    left_out = max(0, math.floor(n * (n + 1) / 4 - 2.2 * spread - 0.5))
    return tuple(math.exp(value) for value in (statistics.median(averages), averages[left_out], averages[-1 - left_out]))


def block(call, sets: list, calls: int) -> list:
    seconds, kept = [], None
    for turn in range(calls):
        begin = time.perf_counter()
        result = call(*sets[turn % len(sets)])
        seconds.append(time.perf_counter() - begin)
        kept = result  # the last output is freed after the clock has stopped
    del kept
    return seconds


def compare(slow, fast, sets: list, limit: float) -> dict:
    """Both in turns, the first one changing, until the time is up."""
    once = quick_call(block(slow, sets, 3) + block(fast, sets, 3))
    calls = max(3, min(200, round(BLOCK_SECONDS / once)))
    pairs, end = [], time.perf_counter() + limit
    while len(pairs) < LEAST_PAIRS or time.perf_counter() < end:
        order = (slow, fast) if len(pairs) % 2 == 0 else (fast, slow)
        times = {call: quick_call(block(call, sets, calls + 1)[1:]) for call in order}
        pairs.append((times[slow], times[fast]))
    speedup, low, high = centre([a / b for a, b in pairs])
    return {"speedup": speedup, "interval": {"low": low, "high": high}, "pairs": len(pairs), "calls": calls * len(pairs),
            "original_seconds": statistics.median(a for a, _ in pairs), "seconds": statistics.median(b for _, b in pairs)}


def modules():
    from . import Model, original

    torch.manual_seed(0)
    given = original.get_init_inputs()
    plain = original.Model(*given).eval()
    torch.manual_seed(0)
    fast = Model(*given).eval()
    fast.load_state_dict(plain.state_dict())
    return plain, fast


def claimed() -> dict:
    evidence = json.loads(pathlib.Path(__file__).with_name("evidence.json").read_text(encoding="utf-8"))
    return {each["baseline"]: each for each in evidence["timing"]["comparisons"]}


def measured(seconds: float, against: list, as_is: bool) -> dict:
    from . import original

    plain, fast = modules()
    torch.manual_seed(1)
    sets = [original.get_inputs() for _ in range(INPUT_SETS)]
    gc.disable()
    with torch.no_grad():
        if objection := fast.why_not(*sets[0]):
            raise SystemExit(f"the kernel is not used here: {objection}")
        baselines = {"eager": plain}
        if "compile" in against:
            baselines["compile"] = torch.compile(plain)
        for call in (*baselines.values(), fast):
            call(*sets[0])  # loads what it needs, among it the OpenMP of compiled code
        with contextlib.nullcontext() if as_is else one_thread_a_core():
            return {name: compare(baselines[name], fast, sets, seconds) for name in against}


def line(name: str, found: dict, claim: dict | None) -> str:
    def of(each):
        return f"{each['speedup']:.2f}x ({each['interval']['low']:.2f} to {each['interval']['high']:.2f})"

    text = f"{name:<8} measured {of(found)}, {found['seconds'] * 1e3:.3g} ms against {found['original_seconds'] * 1e3:.3g} ms, {found['pairs']} pairs"
    if claim:
        near = found["interval"]["high"] >= claim["interval"]["low"] * 0.9 and found["interval"]["low"] <= claim["interval"]["high"] * 1.1
        text += f"; claimed {of(claim)}: " + ("they agree within 10%" if near else "they differ by more than 10%")
    return text


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m @name@.measure", description=__doc__)
    parser.add_argument("--seconds", type=float, default=8, help="of timing for each baseline (default 8)")
    parser.add_argument("--against", default="eager", help="eager (default), compile, or eager,compile")
    parser.add_argument("--as-is", action="store_true", help="keep this process's allocator and OpenMP settings instead of the claim's, and its threads where the system puts them")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    choices = parser.parse_args()
    against = choices.against.split(",")
    if not set(against) <= {"eager", "compile"}:
        parser.error("--against takes eager, compile, or eager,compile")
    if not choices.as_is and any(os.environ.get(name) != value for name, value in CLAIM_SETTINGS.items()):
        os.environ.update(CLAIM_SETTINGS)  # libraries read them as the process starts
        os.execv(sys.executable, [sys.executable, "-m", "@name@.measure", *sys.argv[1:]])
    found, claims = measured(choices.seconds, against, choices.as_is), claimed()
    if choices.json:
        print(json.dumps({"measured": found, "claimed": claims, "threads": torch.get_num_threads(), "as_is": choices.as_is}))
        return
    for name, each in found.items():
        print(line(name, each, claims.get(name)))


if __name__ == "__main__":
    main()
