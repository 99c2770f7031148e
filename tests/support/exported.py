"""Kernels by hand as winners of runs that never took place, so that any of them can be exported; and fresh environments to use the exports in."""

import json
import pathlib
import shutil
import sqlite3
import subprocess

from cli import PASSED, ROOT, TESTS

NOW = "2026-03-01T10:00:00.000Z"
PYTHON = ROOT / ".venv" / "bin" / "python"


def copy_of_problem(name: str, folder: pathlib.Path) -> pathlib.Path:
    return pathlib.Path(shutil.copy(TESTS / "problems" / name, folder))


def plant_winner(kw, problem: pathlib.Path, kernel: str, *, knobs=None, verdict="passed", dsl="cpp") -> str:
    """The id of a run with this kernel of tests/honest as its winner. The problem and the machine come from a real verification."""
    source = (TESTS / "honest" / kernel).read_text(encoding="utf-8")
    verified = kw("verify", problem, TESTS / "honest" / kernel, "--json")
    assert verified.status == PASSED, verified
    interval = {"low": 1.9, "high": 2.1}
    comparison = {"baseline": "eager", "baseline_seconds": 2e-4, "candidate_seconds": 1e-4, "speedup": 2.0, "interval": interval, "pairs": 8, "calls": 80, "ratios": [2.0] * 8}
    confirmed = {"comparisons": [comparison], "seconds": 1e-4, "prepare_seconds": 0, "prepare_bytes": 0, "gflops_per_second": 1, "gbytes_per_second": 1,
                 "share_of_ceiling": 0.5, "floor_seconds": 5e-5, "zone": "memory", "threads": 2, "notes": []}
    individual = {"index": 0, "proposal": {"origin": "seed", "strategies": [], "knobs": knobs or {}, "parents": [], "island": 0, "generation": 0, "effort": 1},
                  "kernel": {"source": source, "dsl": dsl, "knobs": [], "constraints": [], "claims": [], "author": "playbook"}, "strategies": [], "verdict": verdict,
                  "diagnosis": "", "seconds": 1e-4, "speedup": 2.0, "interval": interval, "share_of_ceiling": 0.5, "assembly_hash": "", "duplicate_of": -1, "findings": [],
                  "spent_seconds": 1, "ratios": [2.0] * 8}
    with sqlite3.connect(kw.home / "archive.db") as db:
        name, source_hash, torch = db.execute("SELECT name, source_hash, torch_version FROM problems WHERE file = ?", (str(problem),)).fetchone()
        machine = db.execute("SELECT id FROM machines").fetchone()[0]
        options = {"search": "evolve", "seed": 1, "seconds": 60.0, "evaluations": 0, "islands": 1, "precision": "float32", "threads": 2}
        is_timed = dsl in ("cpp", "opencl")
        if dsl != "cpp":
            options.update(dsl=dsl, **({} if is_timed else {"machine": "a100"}))
        run = {"id": "", "options": options, "problem_file": str(problem), "problem_name": name, "problem_hash": source_hash, "torch_version": torch, "machine_id": machine,
               "zone": "memory", "workload_class": "pointwise", "shape": "", "ledger_limit": 0, "lesson_limit": 0, "state": "done", "ending": "the time is up",
               "elapsed_seconds": 60, "winner": 0, "confirmed": confirmed if is_timed else None, "profile": {"findings": [], "method": "assembly"}, "created_at": "", "updated_at": ""}
        number = db.execute("INSERT INTO runs (problem_hash, torch_version, machine_id, record, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)",
                            (source_hash, torch, machine, json.dumps(run), NOW, NOW)).lastrowid
        db.execute("INSERT INTO individuals VALUES (?, 0, ?, ?, ?)", (number, verdict, json.dumps(individual), NOW))
    return str(number)


def run_in(folder, *command, **settings) -> str:
    """What a command printed; its whole output is the message where it fails."""
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, timeout=1200, **settings)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout[-6000:]}\n{done.stderr[-6000:]}"
    return done.stdout + done.stderr


def fresh_environment(folder: pathlib.Path) -> pathlib.Path:
    """Its interpreter. It sees the project's PyTorch and pytest, and nothing else has been installed into it."""
    # pip comes from there too: one of its own would bring a setuptools that is older than what PyTorch asks for.
    run_in(folder, PYTHON, "-m", "venv", "--without-pip", folder / "environment")
    (own,) = (ROOT / ".venv" / "lib").glob("python3*/site-packages")
    packages = folder / "environment" / "lib" / own.parent.name / "site-packages"
    assert packages.is_dir(), f"{packages} is missing"
    (packages / "project.pth").write_text(f"{own}\n", encoding="utf-8")
    return folder / "environment" / "bin" / "python"
