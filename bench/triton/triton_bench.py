"""How long Triton kernels take on the virtual GPU and in Triton's interpreter, side by side: `.venv/bin/python bench/triton/triton_bench.py`.

Each side is a process of its own; they take turns, program by program, and the ratio is of the medians. Goal: 20 times as fast on
pointwise and row kernels, faster on products of matrices, with all checks on. A missed goal is printed, and is an exit status of 1
only with --strict."""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SIDES = ("vgpu", "vgpu-unchecked", "interpreter")
GOALS = {"pointwise": 20, "row": 20, "matmul": 1}


class Side:
    def __init__(self, name):
        environment = {**os.environ, "TRITON_INTERPRET": "1" if name == "interpreter" else "0", "PYTHONWARNINGS": "ignore"}
        self.process = subprocess.Popen([sys.executable, str(HERE / "sides.py"), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=environment)
        self.programs = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"triton_bench: a side ended with status {self.process.wait()}")
        return json.loads(line)

    def time(self, program):
        self.process.stdin.write(program + "\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3, help="how often each program runs on each side (default 3)")
    parser.add_argument("--only", default="", help="programs with this in their name")
    parser.add_argument("--cpu", action="store_true", help="compare time of the processor, of all threads, instead of the clock's")
    parser.add_argument("--strict", action="store_true", help="a missed goal is an exit status of 1")
    options = parser.parse_args()
    sides = {name: Side(name) for name in SIDES}
    clock = "cpu" if options.cpu else "wall"
    ratios, missed = {}, 0
    print(f"{'program':48} {'checked':>10} {'unchecked':>10} {'interpreter':>12} {'ratio':>8} {'unchecked':>10}")
    for program, kind in sides["vgpu"].programs.items():
        if options.only not in program:
            continue
        times = {name: [] for name in SIDES}
        for _ in range(options.rounds):
            for name, side in sides.items():
                times[name].append(side.time(program)[clock])
        checked, unchecked, interpreter = (statistics.median(times[name]) for name in SIDES)
        ratios.setdefault(kind, []).append(interpreter / checked)
        print(f"{program:48} {checked:9.4f}s {unchecked:9.4f}s {interpreter:11.3f}s {interpreter / checked:7.1f}x {interpreter / unchecked:9.1f}x",
              flush=True)
    for kind, of_kind in ratios.items():
        mean = math.exp(statistics.mean(map(math.log, of_kind)))
        missed += mean < GOALS[kind]
        print(f"{kind}: {mean:.1f}x (geometric mean, checks on); goal {GOALS[kind]}x: {'reached' if mean >= GOALS[kind] else 'missed'}")
    for side in sides.values():
        side.close()
    return 1 if options.strict and missed else 0


if __name__ == "__main__":
    sys.exit(main())
