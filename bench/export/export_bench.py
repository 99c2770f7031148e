#!/usr/bin/env python3
"""What exported kernels give inside of PyTorch, beside what was claimed for them: five kernels are searched (or taken from an archive), exported as packages,
installed into a fresh environment, and measured there in turns with the original module. Prints a table in Markdown.

    bench/export/export_bench.py                       searches a minute for each problem first
    bench/export/export_bench.py --home HOME 1 4 7     the winners of these runs of the archive in HOME
    bench/export/export_bench.py --again               claims measured anew, right before each export's own measurement
    bench/export/export_bench.py --work FOLDER --prepare
                                                       all that takes long and needs no quiet: searches, exports, builds; then, on an idle machine,
    bench/export/export_bench.py --work FOLDER --again the measurements alone
"""

import argparse
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build" / "release" / "bin" / "kernelwright"
PROBLEMS = ["level1/33_gelu_exact", "level1/83_softmax", "level1/50_rms_norm", "level2/01_linear_gelu", "level1/70_cumsum"]


def run(command, **choices) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **choices)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def environment(folder: pathlib.Path) -> pathlib.Path:
    """A fresh one that sees this project's PyTorch; its interpreter."""
    run([ROOT / ".venv" / "bin" / "python", "-m", "venv", "--without-pip", folder])  # pip and what PyTorch asks for come from the project's
    packages = run([folder / "bin" / "python", "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"]).strip()
    own = run([ROOT / ".venv" / "bin" / "python", "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"]).strip()
    pathlib.Path(packages, "project.pth").write_text(own + "\n", encoding="utf-8")
    return folder / "bin" / "python"


def searched(work: pathlib.Path, seconds: int) -> list[str]:
    return [json.loads(run([PROGRAM, "optimize", ROOT / "problems" / f"{problem}.py", "--time", f"{seconds}s", "--json", "--out", work / "kernel.cpp"]))["run"]["id"]
            for problem in PROBLEMS]


def prepared(work: pathlib.Path, choices) -> list[dict]:
    """The packages, installed into an environment in that folder: made now, or by an earlier call with --prepare."""
    listing = work / "packages.json"
    if listing.is_file():
        return json.loads(listing.read_text(encoding="utf-8"))
    python = environment(work / "environment")
    packages = []
    for number in choices.runs or searched(work, choices.search_seconds):
        made = json.loads(run([PROGRAM, "export", number, "--as", "torch", "--out", work / f"run{number}", "--json"]))
        run([python, "-m", "pip", "install", "--no-deps", made["out"]])
        packages.append({"name": made["name"], "folder": made["out"], "python": str(python)})
    listing.write_text(json.dumps(packages), encoding="utf-8")
    return packages


def claim_again(package: pathlib.Path, name: str, seconds: float) -> dict:
    sources = package / "src" / name
    found = json.loads(run([PROGRAM, "measure", sources / "original.py", sources / "sources" / "kernel.cpp", "--baseline", "eager", "--time", seconds, "--again", "--json"]))
    return found["timing"]["comparisons"][0]


def of(each: dict) -> str:
    return f"{each['speedup']:.2f}x ({each['interval']['low']:.2f} to {each['interval']['high']:.2f})"


def near(a: dict, b: dict) -> bool:
    return a["interval"]["high"] >= 0.9 * b["interval"]["low"] and a["interval"]["low"] <= 1.1 * b["interval"]["high"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", help="runs of the archive")
    parser.add_argument("--home", help="the folder of the archive, as KERNELWRIGHT_HOME names it")
    parser.add_argument("--search-seconds", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=15, help="of timing for each measurement (default 15)")
    parser.add_argument("--again", action="store_true", help="measure each claim anew")
    parser.add_argument("--work", help="a folder that keeps the packages and their environment")
    parser.add_argument("--prepare", action="store_true", help="measure nothing yet; goes with --work")
    choices = parser.parse_args()
    if choices.prepare and choices.work is None:
        parser.error("--prepare goes with --work FOLDER")
    if choices.home:
        os.environ["KERNELWRIGHT_HOME"] = choices.home
    with tempfile.TemporaryDirectory() if choices.work is None else contextlib.nullcontext(choices.work) as folder:
        work = pathlib.Path(folder).resolve()
        work.mkdir(parents=True, exist_ok=True)
        packages = prepared(work, choices)
        if choices.prepare:
            return print(f"{len(packages)} packages are ready: measure them with --work {work}")
        print("| kernel | claimed | in PyTorch | as the process is | a call: kernel, original | within 10% |\n|---|---|---|---|---|---|")
        for each in packages:
            measure = [each["python"], "-m", f"{each['name']}.measure", "--json", "--seconds", choices.seconds]
            again = claim_again(pathlib.Path(each["folder"]), each["name"], choices.seconds) if choices.again else None
            found = json.loads(run(measure, cwd=work))
            as_is = json.loads(run([*measure, "--as-is"], cwd=work))["measured"]["eager"]
            claim, inside = again or found["claimed"]["eager"], found["measured"]["eager"]
            print(f"| {each['name']} | {of(claim)} | {of(inside)} | {of(as_is)} | {inside['seconds'] * 1e3:.3g} ms, {inside['original_seconds'] * 1e3:.3g} ms | "
                  f"{'yes' if near(inside, claim) else 'no'} |", flush=True)
    print(f"\n{time.strftime('%Y-%m-%d', time.gmtime())}, {os.cpu_count()} cores", file=sys.stderr)


if __name__ == "__main__":
    main()
