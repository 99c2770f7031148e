"""How soon the page of a run with many kernels is there, and how smoothly it answers, in a real headless Chromium: the report as a file and the viewer over loopback.

    .venv/bin/python bench/pages/pages_bench.py                  2,000 kernels, five rounds
    .venv/bin/python bench/pages/pages_bench.py --kernels 10000 --rounds 3

The run is planted (tests/support/planted_run.py); the browser, the files and the viewer are real. Needs a build and what tools/setup --slow installs."""

import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from browser import Browser  # noqa: E402
from cli import Kernelwright  # noqa: E402
from planted_run import plant  # noqa: E402

GOAL_SECONDS = 2.0
DRAWN = "document.querySelector('.roofline .dots circle') && document.querySelector('.tree .row') && document.querySelector('.detail h3')"
# Milliseconds between frames while the lineage scrolls by some rows a frame, through all of it.
SCROLL = """new Promise(done => { const tree = document.querySelector('.tree'), gaps = []; let last = 0; tree.scrollTop = 0;
  const step = now => { if (last) gaps.push(now - last); last = now; tree.scrollTop += Math.max(40, tree.scrollHeight / 150);
    gaps.length < 150 ? requestAnimationFrame(step) : done(gaps); }; requestAnimationFrame(step); })"""
# Milliseconds from a key to the frame after it, walking down the lineage; the detail changes with each.
WALK = """(async () => { const tree = document.querySelector('.tree'), taken = []; tree.scrollTop = 0; tree.querySelector('.row').click();
  for (let i = 0; i < 60; ++i) { const begin = performance.now(); tree.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true }));
    taken.push(performance.now() - begin); await new Promise(requestAnimationFrame); } return taken; })()"""


def opened(browser, address) -> tuple[float, object]:
    page = browser.page(1440, 900)
    begin = time.monotonic()
    page.call("Page.navigate", url=address)
    while not page.evaluate(f"Boolean({DRAWN})"):
        assert time.monotonic() - begin < 60, f"{address} is never drawn: {page.errors}"
        time.sleep(0.005)
    return time.monotonic() - begin, page


def of(milliseconds: list) -> str:
    ordered = sorted(milliseconds)
    return f"{statistics.median(ordered):.1f} ms, {ordered[int(0.95 * len(ordered))]:.1f} ms, {ordered[-1]:.1f} ms"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--strict", action="store_true", help="a missed goal is an exit status of 1")
    choices = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        work = pathlib.Path(folder)
        kw = Kernelwright(work / "home", work / "cache")
        run = plant(kw, choices.kernels, model=True)
        begin = time.monotonic()
        kw("report", run, "--out", work / "run.html")
        print(f"{choices.kernels} kernels: the report took {time.monotonic() - begin:.2f} s to write, {(work / 'run.html').stat().st_size / 1e6:.1f} MB\n")
        viewer = kw.start("view", "--json")
        text = ""
        while "}" not in text:
            text += viewer.stdout.readline()
        print("| page | opened in, median | slowest | between frames while scrolling: median, 95%, worst | a key: median, 95%, worst |\n|---|---|---|---|---|")
        missed = 0
        for name, address in (("report", f"file://{work}/run.html"), ("viewer", f"{json.loads(text)['address'].rstrip('/')}/runs/{run}")):
            seconds, scroll, walk = [], [], []
            for _ in range(choices.rounds):
                took, page = opened(browser, address)
                seconds.append(took)
                scroll += page.evaluate(SCROLL)
                walk += page.evaluate(WALK)
                page.close()
            missed += statistics.median(seconds) > GOAL_SECONDS
            print(f"| {name} | {statistics.median(seconds):.2f} s | {max(seconds):.2f} s | {of(scroll)} | {of(walk)} |", flush=True)
        print(f"\nload of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        print(f"goal: open in {GOAL_SECONDS:.0f} s: {'missed' if missed else 'reached'}")
        viewer.terminate()
        kw.finish(viewer)
    return 1 if choices.strict and missed else 0


if __name__ == "__main__":
    sys.exit(main())
