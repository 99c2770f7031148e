"""The page of a bench in a real headless Chromium: a row a problem, sorted and searched, at three widths, and nothing that a problem says becomes markup."""

import hashlib
import json
import pathlib
import random
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from browser import Browser  # noqa: E402
from cli import NOT_PASSED, Kernelwright, problem_text  # noqa: E402

pytestmark = pytest.mark.slow
DRAWN = "document.querySelector('.suite .dots circle') && document.querySelector('table.suite tbody tr')"
HOSTILE = "</script><img src=x onerror=\"document.title='owned'\">"


def planted_row(name, text, chance, i):
    row = {"problem": name, "hash": hashlib.sha256(text.encode()).hexdigest(), "outcome": "passed", "message": "", "scaling": "", "run": str(i), "author": "playbook",
           "kernel": f"kernels/{name}.cpp", "zone": "memory", "seconds": chance.uniform(1e-4, 1e-2), "share_of_ceiling": chance.uniform(0.2, 0.95), "evaluations": 12,
           "spent_seconds": 60.0}
    for baseline, spread in (("eager", 0.7), ("compile", 0.5)):
        speedup = chance.lognormvariate(0.5, spread)
        row[baseline] = {"speedup": speedup, "interval": {"low": speedup * 0.95, "high": speedup * 1.06}}
    if i % 17 == 5:
        nothing = {"speedup": 0.0, "interval": {"low": 0.0, "high": 0.0}}
        row |= {"outcome": "failed", "message": f"none passed: {HOSTILE}", "eager": nothing, "compile": nothing, "author": "", "kernel": ""}
    return row


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A bench of 120 problems that are all done: the program has only the page to write."""
    folder = tmp_path_factory.mktemp("suite")
    (folder / "set").mkdir()
    chance, rows = random.Random(3), []
    for i in range(1, 121):
        text = problem_text(forward=f"return x * {i}")
        (folder / "set" / f"{i}_problem.py").write_text(text)
        rows.append(planted_row(f"{i}_problem", text, chance, i))
    settings = {"search": "evolve", "seconds": 60.0, "evaluations": 0, "seed": 1, "precision": "float32", "threads": 0, "compile": True, "scale_to": ""}
    record = {"name": "set", "settings": settings, "machine": "", "torch_version": "2.9.0", "problems": [row["problem"] for row in rows], "rows": rows, "skipped": [],
              "under_way": None}
    (folder / "results").mkdir()
    (folder / "results" / "results.json").write_text(json.dumps(record))
    run = Kernelwright(folder / "home", folder / "cache")("bench", folder / "set", "--out", folder / "results")
    assert run.status == NOT_PASSED and "113 of 120 passed" in run.out, run
    return folder / "results" / "index.html"


@pytest.fixture(scope="module")
def browser():
    with Browser() as started:
        yield started


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", (390, 1024, 1920))
def test_every_problem_is_there(browser, results, width, dark):
    page = browser.page(width, 900, dark).open(f"file://{results}", DRAWN)
    assert page.evaluate("document.querySelectorAll('table.suite tbody tr').length") == 120
    assert page.evaluate("document.querySelectorAll('.suite .dots circle').length") == 113
    assert page.evaluate("document.querySelectorAll('.suite .dots .cross').length") == 7
    for words in ("PyTorch 2.9.0", "geometric mean", "median", "113 of 120", "fast_p", "none passed: </script>"):
        assert words in page.text(), words
    assert page.evaluate("document.title") == "set - Kernelwright" and page.errors == []
    assert [url for url in page.requests if not url.startswith(("file://", "data:"))] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page is wider than its window"
    assert page.evaluate("[...document.querySelectorAll('.wide')].every(e => e.scrollWidth <= e.clientWidth)"), "the table is wider than its panel"
    page.close()


def test_columns_sort_and_words_search(browser, results):
    page = browser.page(1280, 900).open(f"file://{results}", DRAWN)
    first = "document.querySelector('table.suite tbody tr').innerText"
    assert page.evaluate(first).startswith("1_problem")
    page.click("th.col-eager button")
    fastest = page.evaluate("JSON.parse(document.getElementById('data').textContent).totals.over_eager.fastest")
    assert page.evaluate(first).startswith(fastest)
    page.evaluate("(() => { const box = document.querySelector('.list-head input'); box.value = 'failed'; box.dispatchEvent(new Event('input')); })()")
    page.wait("document.querySelectorAll('table.suite tbody tr').length === 7")
    page.close()
