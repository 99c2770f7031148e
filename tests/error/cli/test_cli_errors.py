"""Bad input and a bad environment: a message that says what to do, the right exit status, and nothing half-written."""

import concurrent.futures
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

from cli import BAD_INPUT, FAILED, NOT_PASSED, PASSED, TESTS, Kernelwright, assert_refused, problem_text  # noqa: E402
from cli import drawn, kw, shared_cache  # noqa: E402, F401: fixtures

PROBLEM, KERNEL = "problems/scale_relu.py", "honest/scale_relu_plain.cpp"
DECLARATION = 'extern "C" void kw_kernel(const float* x, float* out)'
NOBODY = 65534


# The command line

WRONG_COMMAND_LINES = [
    ((), ("--help",)),
    (("frobnicate",), ("frobnicate",)),
    (("--no-such-option",), ("--no-such-option",)),
    (("describe",), ("problem",)),
    (("verify", PROBLEM), ("kernel",)),
    (("verify", PROBLEM, KERNEL, "--no-such-option"), ("--no-such-option",)),
    (("verify", PROBLEM, KERNEL, "one-too-many.cpp"), ("one-too-many.cpp",)),
    (("verify", PROBLEM, KERNEL, "--knob"), ("--knob", "NAME=VALUE")),
    (("verify", PROBLEM, KERNEL, "--knob", "KW_TILE"), ("KW_TILE", "NAME=VALUE")),
    (("verify", PROBLEM, KERNEL, "--knob", "=3"), ("=3", "NAME=VALUE")),
    (("verify", PROBLEM, KERNEL, "--knob", "2TILES=3"), ("2TILES", "NAME=VALUE")),
    (("verify", PROBLEM, KERNEL, "--knob", "KW_NO_SUCH=3"), ("KW_NO_SUCH", "scale_relu_plain.cpp")),
    (("cache", "--limit", "4GB", "--clear"), ("--limit", "--clear")),
    (("runs", "--delete"), ("--delete",)),
    (("runs", "--yes"), ("--delete",)),
    (("migrate", PROBLEM, KERNEL, "--to", "opencl", "--out", "/no/such/folder/k.cl"), ("/no/such/folder", "--out")),
    (("verify", PROBLEM, KERNEL, "--precision", "fp8"), ("fp8", "float32, tf32, bf16 or fp16")),
    (("verify", PROBLEM, KERNEL, "--threads", "4096"), ("--threads 4096", "cores")),
    (("describe", PROBLEM, "--threads", "4096"), ("--threads 4096", "cores")),
    (("verify", PROBLEM, KERNEL, "--threads", "0"), ("--threads",)),
    (("verify", PROBLEM, KERNEL, "--threads", "two"), ("--threads", "two")),
    (("verify", PROBLEM, KERNEL, "--seed", "-1"), ("--seed", "-1")),
    (("verify", PROBLEM, KERNEL, "--seed", "0"), ("--seed", "0")),
    (("verify", PROBLEM, KERNEL, "--timeout", "0"), ("--timeout",)),
    (("measure", PROBLEM, KERNEL, "--baseline", "numpy"), ("--baseline", "numpy", "eager")),
    (("measure", PROBLEM, KERNEL, "--time", "-3"), ("--time", "-3")),
    (("measure", PROBLEM, KERNEL, "--against", "no-such-kernel.cpp"), ("no-such-kernel.cpp",)),
]


@pytest.mark.parametrize("words, named", WRONG_COMMAND_LINES, ids=[" ".join(words) or "nothing" for words, _ in WRONG_COMMAND_LINES])
def test_a_wrong_command_line(kw, drawn, words, named):
    run = kw(*words)
    assert run.status == BAD_INPUT and run.out == "", run
    for word in named:
        assert word in run.err, f"'{word}' is not in the message\n{run}"
    assert "  try: " in run.err or "--help" in run.err, f"it does not say what to do\n{run}"
    assert kw.evaluations() == 0


# Problems

BROKEN_PROBLEMS = {
    "syntax": ("import torch\ndef broken(:\n", ("broken_syntax.py:2", "SyntaxError")),
    "no_model": (problem_text().replace("class Model", "class Module"), ("no class Model",)),
    "no_inputs": (problem_text().replace("get_inputs", "inputs"), ("no get_inputs()",)),
    "no_init_inputs": (problem_text().replace("get_init_inputs", "init"), ("no get_init_inputs()",)),
    "constructor": (problem_text(init="raise ValueError('no such size')"), ("broken_constructor.py:7", "Model()", "no such size")),
    "forward": (problem_text("raise RuntimeError('not today')"), ("broken_forward.py:10", "forward()", "not today")),
    "text_output": (problem_text("return 'text'"), ("forward()", "str")),
    "number_as_inputs": (problem_text(inputs="42"), ("get_inputs()", "int")),
    "object_as_input": (problem_text(inputs="[object()]"), ("'x'", "object")),
    "random_output": (problem_text("return x + torch.rand(64)"), ("another output for the same input",)),
    "complex_input": (problem_text(inputs="[torch.randn(64, dtype=torch.complex64)]"), ("'x'", "complex64", "float32")),
    "huge": (problem_text(inputs="[torch.randn(1 << 43)]"), ("memory", "smaller shapes")),
    "import": (problem_text(head="import no_such_package"), ("broken_import.py:3", "no_such_package", "install")),
    "exits": (problem_text(head="raise SystemExit(0)"), ("broken_exits.py:3", "SystemExit")),
}


@pytest.fixture(scope="module")
def broken(shared_cache, tmp_path_factory):
    """Every broken problem described, two at a time because each starts PyTorch anew: name -> the run to come."""
    folder = tmp_path_factory.mktemp("broken")
    shutil.copytree(shared_cache / "machines", folder / "cache" / "machines")
    kw = Kernelwright(folder / "home", folder / "cache")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = {}
        for name, (text, _) in BROKEN_PROBLEMS.items():
            (folder / f"broken_{name}.py").write_text(text)
            runs[name] = pool.submit(kw, "describe", folder / f"broken_{name}.py")
        yield kw, runs


@pytest.mark.parametrize("name", BROKEN_PROBLEMS)
def test_a_broken_problem(broken, name):
    kw, runs = broken
    assert_refused(runs[name].result(), f"broken_{name}.py", *BROKEN_PROBLEMS[name][1])
    assert not list(kw.cache.glob(f"tensors/broken_{name}-*")), "something was kept of it"


def test_a_broken_problem_leaves_no_evaluation(kw, tmp_path):
    (tmp_path / "broken.py").write_text(problem_text("return 'text'"))
    assert_refused(kw("verify", tmp_path / "broken.py", KERNEL), "broken.py", "str")
    assert kw.evaluations() == 0


@pytest.mark.parametrize("command", [("describe",), ("verify", KERNEL)], ids=lambda command: command[0])
def test_no_such_problem(kw, tmp_path, command):
    for problem, word in ((tmp_path / "absent.py", "absent.py"), (tmp_path, "folder")):
        assert_refused(kw(command[0], problem, *command[1:]), str(problem), word)


# Kernels

@pytest.fixture
def kernel(tmp_path):
    def written(name: str, content: bytes) -> pathlib.Path:
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    return written


def test_no_such_kernel(kw, drawn, tmp_path):
    assert_refused(kw("verify", PROBLEM, tmp_path / "absent.cpp"), "absent.cpp")
    assert_refused(kw("verify", PROBLEM, tmp_path), str(tmp_path), "folder")


def test_an_empty_kernel(kw, drawn, kernel):
    for content in (b"", b" \n\t\n"):
        assert_refused(kw("verify", PROBLEM, kernel("empty.cpp", content)), "empty.cpp", "empty")


@pytest.mark.parametrize("name", ["kernel.txt", "kernel", "kernel.f90"])
def test_an_extension_of_no_dsl(kw, drawn, kernel, name):
    assert_refused(kw("verify", PROBLEM, kernel(name, (TESTS / KERNEL).read_bytes())), name, ".cpp")


GARBAGE = {"all bytes": bytes(range(256)) * 16, "an object": b"\x7fELF\x02\x01\x01" + bytes(4096), "UTF-16": "int x;".encode("utf-16")}


@pytest.mark.parametrize("content", GARBAGE.values(), ids=GARBAGE.keys())
def test_binary_garbage_does_not_compile(kw, drawn, kernel, content):
    path = kernel("garbage.cpp", content)
    run = kw("verify", PROBLEM, path, "--json")
    assert run.status == NOT_PASSED and run.json["verdict"]["verdict"] == "compile_failed", run
    # The archive has to hold it as well.
    kept = kw("verify", PROBLEM, path, "--json")
    assert kept.status == NOT_PASSED and kept.json["from_archive"], kept
    assert kept.json["verdict"]["diagnosis"] == run.json["verdict"]["diagnosis"]


@pytest.mark.parametrize("source", ["no_entry_point.cpp", "static_entry_point.cpp", "wrong_signature.cpp"])
def test_a_wrong_entry_point_is_told_the_right_one(kw, drawn, source):
    run = kw("verify", PROBLEM, f"redteam/{source}")
    assert run.status == NOT_PASSED and f"{source} on scale_relu: compile_failed" in run.out, run
    assert DECLARATION in run.out, run


# Files that may not be read or written

def as_nobody() -> dict:
    """Root may read and write everything, so the tests of permissions run as somebody else."""
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}


@pytest.fixture
def open_folder():
    """A folder that others can reach, which pytest's own are not."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield pathlib.Path(folder)


def readable_copy(cache: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    return pathlib.Path(shutil.copytree(cache / "machines", folder / "cache" / "machines")).parent


def test_an_unreadable_kernel(shared_cache, open_folder):
    kw = Kernelwright(open_folder / "home", readable_copy(shared_cache, open_folder))
    secret = shutil.copy(TESTS / KERNEL, open_folder / "secret.cpp")
    os.chmod(secret, 0)
    assert_refused(kw("verify", PROBLEM, secret, options=as_nobody()), "secret.cpp", "Permission denied")


def test_a_home_that_cannot_be_written(shared_cache, open_folder):
    (open_folder / "home").mkdir(mode=0o555)
    kw = Kernelwright(open_folder / "home", readable_copy(shared_cache, open_folder))
    run = kw("verify", PROBLEM, KERNEL, "--unsafe-no-sandbox", options=as_nobody())
    assert_refused(run, str(kw.home), "KERNELWRIGHT_HOME", status=FAILED)
    assert "No such file" not in run.err, f"the reason is a permission\n{run}"
    assert not list(kw.home.iterdir())


def test_a_current_folder_that_cannot_be_written_is_told_before_the_search(shared_cache, open_folder):
    kw = Kernelwright(open_folder / "home", readable_copy(shared_cache, open_folder))
    for folder in ("home", "cache", "cache/machines"):
        (open_folder / folder).mkdir(exist_ok=True)
        os.chmod(open_folder / folder, 0o777)
    (open_folder / "here").mkdir(mode=0o555)
    run = kw("optimize", TESTS / PROBLEM, "--evaluations", "2", folder=open_folder / "here", options=as_nobody())
    assert_refused(run, str(open_folder / "here"), "--out")
    assert not (kw.home / "archive.db").exists(), "nothing was begun"


@pytest.mark.parametrize("setting", ["KERNELWRIGHT_HOME", "KERNELWRIGHT_CACHE"])
def test_a_folder_below_a_file(kw, drawn, tmp_path, setting):
    (tmp_path / "file").write_text("kept")
    run = kw("verify", PROBLEM, KERNEL, **{setting: tmp_path / "file" / "folder"})
    assert_refused(run, str(tmp_path / "file" / "folder"), setting, status=FAILED)
    assert (tmp_path / "file").read_text() == "kept"


def mounted_tmpfs(folder: pathlib.Path, size: str):
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True).returncode != 0:
        pytest.skip("no file system can be mounted here")


def test_a_full_disk_for_the_cache(kw, shared_cache, tmp_path):
    cache = tmp_path / "small"
    mounted_tmpfs(cache, "1m")
    try:
        shutil.copytree(shared_cache / "machines", cache / "machines")
        run = kw("verify", PROBLEM, KERNEL, KERNELWRIGHT_CACHE=cache)
        assert_refused(run, str(cache), "space", status=FAILED)
        assert not [path for path in cache.rglob("*") if path.suffix not in (".json", "") and path.is_file()], "half a set was left"
        assert kw.evaluations() == 0
    finally:
        subprocess.run(["umount", cache], check=True)


def test_a_full_disk_for_the_archive(kw, drawn, tmp_path):
    home = tmp_path / "small"
    mounted_tmpfs(home, "100k")
    try:
        run = kw("verify", PROBLEM, KERNEL, KERNELWRIGHT_HOME=home)
        assert_refused(run, str(home), "space", "KERNELWRIGHT_HOME", status=FAILED)
    finally:
        subprocess.run(["umount", home], check=True)


def test_a_limit_on_the_size_of_files(kw, drawn):
    """As a quota: a write fails in the middle of a file. The archive is the first that is too large."""
    limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20480, 20480))}
    assert_refused(kw("verify", PROBLEM, KERNEL, options=limit), str(kw.home), status=FAILED)
    assert kw("verify", PROBLEM, KERNEL).status == PASSED, "what was left behind is in the way"


# Damaged files

@pytest.fixture
def damaged(kw, drawn, tmp_path):
    """A kernelwright with a cache to damage: the session's tensors of the problem in a copy."""
    cache = tmp_path / "cache"
    shutil.copytree(kw.cache / "machines", cache / "machines")
    source = next((kw.cache / "tensors").glob("scale_relu-*"))
    # Only the draw that is damaged: others come and go while other tests run beside this one.
    shutil.copytree(source, cache / "tensors" / source.name,
                    ignore=lambda _, names: [name for name in names if name.endswith("-float32") and name != f"{drawn}-float32"])
    return Kernelwright(kw.home, cache)


def test_truncated_tensors_are_made_again(damaged, drawn):
    """Several at once, in several ways: each costs the oracle's time only once."""
    draw = next(damaged.cache.glob(f"tensors/scale_relu-*/{drawn}-float32"))
    intact = {path: path.read_bytes() for path in sorted(draw.rglob("*.safetensors"))}
    inputs = draw / "given-given-0" / "inputs.safetensors"
    others = [path.parent for path in sorted(draw.glob("*-fresh-0/set.json"))]
    inputs.write_bytes(intact[inputs][:1000])
    (others[0] / "reference.safetensors").write_bytes(b"")
    (others[1] / "eager.safetensors").unlink()
    (others[2] / "set.json").write_text("{")
    (others[3] / "weights.safetensors").write_bytes(b"\xff" * 64)
    run = damaged("verify", PROBLEM, KERNEL, "--seed", drawn)
    assert run.status == PASSED and run.err == "", run
    for path, content in intact.items():
        assert path.read_bytes() == content, f"{path} is not what it was"


@pytest.mark.parametrize("text", ["{\"name\": \"scale_relu\"", "{\"name\": 3}"], ids=["cut", "other fields"])
def test_a_damaged_description_is_made_again(damaged, text):
    description = next(damaged.cache.glob("tensors/scale_relu-*/description.json"))
    before = description.read_text()
    description.write_text(text)
    run = damaged("describe", PROBLEM)
    assert run.status == PASSED and run.err == "" and run.out.startswith("scale_relu\n"), run
    assert description.read_text() == before


def test_damaged_ceilings_are_measured_again(damaged):
    record = next((damaged.cache / "machines").glob("*.json"))
    record.write_text(record.read_text()[:200])
    run = damaged("describe", PROBLEM)
    assert run.status == PASSED and run.err == "", run
    assert record.read_text().endswith("}\n")


DAMAGED_ARCHIVES = {"noise": bytes(range(255, -1, -1)) * 32, "header only": b"SQLite format 3\0" + bytes(4080), "text": b"not a database"}


@pytest.mark.parametrize("content", DAMAGED_ARCHIVES.values(), ids=DAMAGED_ARCHIVES.keys())
def test_a_damaged_archive_is_refused_and_left_alone(kw, drawn, content):
    kw.home.mkdir()
    archive = kw.home / "archive.db"
    archive.write_bytes(content)
    assert_refused(kw("verify", PROBLEM, KERNEL), str(archive), "mv")
    assert archive.read_bytes() == content


# A bad environment

def dying_problem(folder: pathlib.Path, deaths: int) -> tuple[pathlib.Path, pathlib.Path]:
    """A problem that writes down each process that loads it, and then waits in the first ones to be killed."""
    pids = folder / "pids"
    pids.touch()
    head = ("import os, time\n"
            f"with open({str(pids)!r}, 'a') as file: file.write(f'{{os.getpid()}}\\n')\n"
            f"if len(open({str(pids)!r}).readlines()) <= {deaths}: time.sleep(120)\n")
    path = folder / f"dying_{deaths}.py"
    path.write_text(problem_text(head=head))
    return path, pids


def describe_with_deaths(kw, folder, deaths):
    problem, pids = dying_problem(folder, deaths)
    process = kw.start("describe", problem)
    killed = 0
    deadline = time.monotonic() + 120
    while killed < deaths and process.poll() is None and time.monotonic() < deadline:
        lines = pids.read_text().splitlines(keepends=True)
        if len(lines) > killed and lines[killed].endswith("\n"):
            os.kill(int(lines[killed]), signal.SIGKILL)
            killed += 1
        time.sleep(0.02)
    assert killed == deaths, "the oracle never loaded the problem"
    # A process may load it more than once: its sizes are looked at before it is loaded for good.
    return kw.finish(process), len(set(pids.read_text().splitlines()))


def test_an_oracle_that_is_killed_is_started_again(kw, tmp_path):
    run, starts = describe_with_deaths(kw, tmp_path, 1)
    assert run.status == PASSED and run.err == "" and run.out.startswith("dying_1\n"), run
    assert starts == 2


def test_an_oracle_that_is_killed_twice_is_given_up(kw, tmp_path):
    run, starts = describe_with_deaths(kw, tmp_path, 2)
    assert_refused(run, "oracle died twice", "doctor", status=FAILED)
    assert starts == 2
    assert not list(kw.cache.glob("tensors/dying_2-*"))


def test_a_python_that_is_not_there(kw, drawn):
    for words in (("describe", PROBLEM), ("verify", PROBLEM, KERNEL)):
        assert_refused(kw(*words, KERNELWRIGHT_PYTHON="no-such-python"), "KERNELWRIGHT_PYTHON=no-such-python")


def test_a_python_without_torch(kw, tmp_path):
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\nexec {sys.base_prefix}/bin/python3 -S \"$@\"\n")
    python.chmod(0o755)
    run = kw("describe", PROBLEM, KERNELWRIGHT_PYTHON=python)
    assert_refused(run, "torch", "KERNELWRIGHT_PYTHON")
    assert "memory" not in run.err, f"that is not the reason\n{run}"


def test_a_compiler_that_is_not_there(kw, drawn):
    assert_refused(kw("verify", PROBLEM, KERNEL, KERNELWRIGHT_CXX="nope"), "'nope'", "KERNELWRIGHT_CXX")
    assert kw.evaluations() == 0


def test_a_compiler_that_makes_nothing(kw, drawn):
    assert_refused(kw("verify", PROBLEM, KERNEL, KERNELWRIGHT_CXX=shutil.which("true")), shutil.which("true"), "KERNELWRIGHT_CXX")
    assert kw.evaluations() == 0


def test_a_sandbox_that_does_not_exist(kw, drawn):
    assert_refused(kw("verify", PROBLEM, KERNEL, KERNELWRIGHT_SANDBOX="docker"), "KERNELWRIGHT_SANDBOX=docker", "bubblewrap or landlock")


def test_a_root_without_the_oracle(kw, drawn, tmp_path):
    assert_refused(kw("describe", PROBLEM, KERNELWRIGHT_ROOT=tmp_path), f"KERNELWRIGHT_ROOT={tmp_path}")


def test_no_temporary_folder(kw, drawn, tmp_path):
    assert_refused(kw("verify", PROBLEM, KERNEL, TMPDIR=tmp_path / "absent"), "TMPDIR", status=FAILED)
