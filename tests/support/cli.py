"""The real kernelwright for tests: run in private folders, with what it may never print checked on every run."""

import json
import os
import pathlib
import re
import sqlite3
import subprocess
from dataclasses import dataclass

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
BINARY = pathlib.Path(os.environ.get("KW_BIN", ROOT / "build" / "release" / "bin" / "kernelwright")).resolve()

PASSED, NOT_PASSED, BAD_INPUT, FAILED = 0, 1, 2, 3

# Signs of an error that nobody turned into words.
RAW_FAILURES = ("Traceback (most recent", "terminate called", "what():", "std::", "nlohmann", "json.exception", "Segmentation fault",
                "core dumped", "please report it")
# Whatever the caller has set of these would change what is tested.
SETTINGS = ("KERNELWRIGHT_", "XDG_", "MALLOC_", "OMP_", "NO_COLOR", "PYTHONPATH", "OPENAI_", "ANTHROPIC_")


@dataclass
class Run:
    words: list
    status: int
    out: str
    err: str

    @property
    def json(self) -> dict:
        return json.loads(self.out)

    def __str__(self):
        return f"$ kernelwright {' '.join(self.words)}\nstatus {self.status}\n--- out\n{self.out[-3000:]}\n--- err\n{self.err[-3000:]}"


class Kernelwright:
    """Calls the binary with a home and a cache of its own; named arguments in capitals are environment variables."""

    def __init__(self, home: pathlib.Path, cache: pathlib.Path):
        self.home, self.cache = home, cache

    def environment(self, **settings) -> dict:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(SETTINGS)}
        own = {"KERNELWRIGHT_HOME": str(self.home), "KERNELWRIGHT_CACHE": str(self.cache), "KERNELWRIGHT_ROOT": str(ROOT)}
        return {**inherited, **own, **{name: str(value) for name, value in settings.items()}}

    def start(self, *words, folder=TESTS, options=None, **settings) -> subprocess.Popen:
        return subprocess.Popen([str(BINARY), *map(str, words)], cwd=folder, env=self.environment(**settings), text=True,
                                stdin=subprocess.DEVNULL, **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **(options or {})})

    def finish(self, process: subprocess.Popen) -> Run:
        try:
            out, err = process.communicate(timeout=240)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
        run = Run(process.args[1:], process.returncode, out, err)
        # A result may quote the kernel, which may say anything.
        said = err + (out if run.status in (BAD_INPUT, FAILED) else "")
        for sign in RAW_FAILURES:
            assert sign not in said, f"'{sign}' was printed\n{run}"
        assert "\x1b" not in out + err and "\r" not in out + err, f"escape codes outside a terminal\n{run}"
        assert run.status in (PASSED, NOT_PASSED, BAD_INPUT, FAILED), f"not one of the exit statuses\n{run}"
        return run

    def __call__(self, *words, **choices) -> Run:
        return self.finish(self.start(*words, **choices))

    def evaluations(self) -> int:
        """How many are in the archive; 0 without one."""
        archive = self.home / "archive.db"
        if not archive.exists():
            return 0
        with sqlite3.connect(f"file:{archive}?mode=ro", uri=True) as connection:
            return connection.execute("SELECT count(*) FROM evaluations").fetchone()[0]


def assert_refused(run: Run, *words, status=BAD_INPUT):
    """Nothing but a message on standard error, which has all the words and says what to do."""
    assert run.status == status, run
    assert run.out == "", run
    assert run.err.startswith("kernelwright: "), run
    for word in words:
        assert word in run.err, f"'{word}' is not in the message\n{run}"
    assert re.search(r"^  try: \S.*$", run.err, re.MULTILINE), f"it does not say what to do\n{run}"


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory) -> pathlib.Path:
    """One cache for the whole session, in a place that every test file finds: ceilings and tensors are made once."""
    if "KW_TEST_CACHE" in os.environ:
        return pathlib.Path(os.environ["KW_TEST_CACHE"])
    cache = tmp_path_factory.getbasetemp() / "shared-cache"
    if not cache.is_dir():
        assert BINARY.is_file(), f"there is no {BINARY}: run make build, or set KW_BIN"
        cache.mkdir()
        run = Kernelwright(tmp_path_factory.mktemp("home"), cache)("doctor")
        assert (cache / "machines").is_dir(), run
    return cache


@pytest.fixture
def kw(shared_cache, tmp_path) -> Kernelwright:
    """A home of this test's own, and the session's cache."""
    return Kernelwright(tmp_path / "home", shared_cache)


@pytest.fixture(scope="session")
def drawn(shared_cache, tmp_path_factory) -> str:
    """The seed of a draw of tensors that the shared cache has for the problem scale_relu."""
    run = Kernelwright(tmp_path_factory.mktemp("home"), shared_cache)(
        "verify", "problems/scale_relu.py", "honest/scale_relu_plain.cpp", "--seed", "11", "--json")
    assert run.status == PASSED, run
    return "11"


def problem_text(forward="return x * 2", inputs="[torch.randn(64)]", head="", init="pass"):
    """A problem from the parts that a test cares about."""
    return (f"import torch\nimport torch.nn as nn\n{head}\nclass Model(nn.Module):\n    def __init__(self):\n"
            f"        super().__init__()\n        {init}\n\n    def forward(self, x):\n        {forward}\n\n"
            f"def get_inputs():\n    return {inputs}\n\ndef get_init_inputs():\n    return []\n")
