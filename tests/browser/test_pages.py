"""The pages in a real headless Chromium: what they show, what a click and a key do, that they follow a search while it goes on, at three widths, light and
dark, without an error and without a request to anywhere else."""

import itertools
import json
import pathlib
import random
import re
import sqlite3
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from browser import Browser  # noqa: E402
from cli import PASSED, Kernelwright  # noqa: E402
from cli import shared_cache  # noqa: E402, F401: fixtures
from planted_run import add_individuals, individuals, plant  # noqa: E402

pytestmark = pytest.mark.slow
WIDTHS = (390, 1024, 1920)
DRAWN = "document.querySelector('.roofline .dots circle') && document.querySelector('.tree .row')"


@pytest.fixture(scope="module")
def browser():
    with Browser() as started:
        yield started


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    kw = Kernelwright(folder / "home", folder / "cache")
    ids = {"one": plant(kw, 64, model=True), "other": plant(kw, 40, seed=3, search="refine"), "hostile": plant(kw, 20, hostile=True, model=True),
           "large": plant(kw, 2000, name="23_softmax"), "running": plant(kw, 6, name="40_layer_norm", state="running"), "gpu": plant(kw, 30, name="83_softmax", dsl="cuda-c"),
           "opencl": plant(kw, 12, name="84_softmax", dsl="opencl")}
    ids["parts"] = plant(kw, 12, name="03_residual_blocks", parts=[ids["other"], ids["one"], *[""] * 13])
    ids["part"] = plant(kw, 6, name="1f2e3d", part_of=ids["parts"])
    ids["failed"] = plant(kw, 0, name="41_nothing", state="stopped")
    for name, run in ids.items():
        assert kw("report", run, "--out", folder / f"{name}.html").status == PASSED
    return kw, ids, folder


@pytest.fixture(scope="module")
def address(home):
    process = home[0].start("view", "--json")
    text = ""
    while "}" not in text:
        text += process.stdout.readline()
    yield json.loads(text)["address"].rstrip("/")
    process.terminate()
    assert home[0].finish(process).status == PASSED


def assert_clean(page, own):
    assert page.errors == []
    strangers = [url for url in page.requests if not url.startswith((*([own] if isinstance(own, str) else own), "data:"))]
    assert not strangers, f"the page asked for {strangers}"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page is wider than its window"


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_a_report_shows_the_answer_and_every_part(browser, home, width, dark):
    kw, ids, folder = home
    page = browser.page(width, 900, dark).open(f"file://{folder}/one.html", DRAWN)
    text = page.text()
    confirmed = kw("show", ids["one"], "--json").json["run"]["confirmed"]["comparisons"]
    for each in confirmed:
        assert f"{each['speedup']:.2f}×" in text and f"{each['interval']['low']:.2f} to {each['interval']['high']:.2f}" in text
    for words in ("18 of 18 checks", "float32", "of the roofline", "AMD EPYC", "PyTorch 2.9.0", "g++ 12.2.0", "kernelwright optimize", "Roofline", "Progress", "Lineage",
                  "Ledger", "Verdicts", "Time and cost", "translator"):
        assert words in text, words
    # Every kernel that was timed is a dot; the lines of the plots stand inside of them.
    timed = page.evaluate("JSON.parse(document.getElementById('data').textContent).individuals.filter(k => k.speedup > 0).length")
    assert page.evaluate("document.querySelectorAll('.roofline .dots circle').length") == timed
    assert page.evaluate("document.querySelectorAll('.roofline line.baseline').length") == 2
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, background[4:-1].split(","))) < 200) == dark
    assert_clean(page, "file://")
    page.close()


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_a_run_for_a_gpu_shows_estimates_below_its_data_sheet(browser, home, width, dark):
    page = browser.page(width, 900, dark).open(f"file://{home[2]}/gpu.html", DRAWN)
    text = page.text()
    for words in ("an estimate: nothing was timed", "CUDA C++, for NVIDIA A100-SXM4-80GB", "kw_rows", "limited by memory", "the last wave is a fifth full"):
        assert words in text, words
    assert "plain 13.4" in page.evaluate("document.querySelector('.roofline').textContent")
    assert "eager" not in text and "this machine's" not in text
    assert page.evaluate("document.querySelectorAll('.roofline line.baseline').length") == 1
    assert_clean(page, "file://")
    page.close()


def test_a_run_in_opencl_is_timed(browser, home):
    page = browser.page(1024, 900).open(f"file://{home[2]}/opencl.html", DRAWN)
    assert "OpenCL C" in page.text() and "faster than PyTorch eager" in page.text() and "estimate" not in page.text()
    assert_clean(page, "file://")
    page.close()


def test_a_kernel_that_is_slower_is_not_called_faster(browser, home, tmp_path):
    text = (home[2] / "one.html").read_text()
    for (low, high), words in {(0.3, 0.5): "the speed of PyTorch eager: slower", (0.9, 1.1): "the speed of PyTorch eager: no clear difference"}.items():
        data = re.search(r'id="data">(.*?)</script>', text, re.DOTALL)
        told = json.loads(data[1])
        told["run"]["confirmed"]["comparisons"][0].update(speedup=(low + high) / 2, interval={"low": low, "high": high})
        (tmp_path / "slow.html").write_text(text[:data.start(1)] + json.dumps(told).replace("<", "\\u003c") + text[data.end(1):])
        page = browser.page(1024, 900).open(f"file://{tmp_path}/slow.html", DRAWN)
        assert words in page.text(".answer") and "faster than" not in page.text(".answer")
        page.close()


def test_a_pair_that_was_disturbed_does_not_hide_the_interval(browser, home, tmp_path):
    text = (home[2] / "one.html").read_text()
    data = re.search(r'id="data">(.*?)</script>', text, re.DOTALL)
    told = json.loads(data[1])
    told["run"]["confirmed"]["comparisons"][0]["ratios"] += [500.0, 0.01]
    (tmp_path / "far.html").write_text(text[:data.start(1)] + json.dumps(told).replace("<", "\\u003c") + text[data.end(1):])
    page = browser.page(1024, 900).open(f"file://{tmp_path}/far.html", f"{DRAWN} && document.querySelectorAll('.distribution svg').length === 3")
    assert page.evaluate("document.querySelectorAll('.distribution .beyond').length") == 2
    assert page.evaluate("Math.min(...[...document.querySelectorAll('.distribution .interval')].map(e => e.getBoundingClientRect().width))") > 60
    assert page.errors == []
    page.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_sub_problems_lead_to_their_runs(browser, home, address, width):
    _, ids, folder = home
    page = browser.page(width, 900).open(f"file://{folder}/parts.html", DRAWN)
    assert page.evaluate("document.querySelectorAll('.parts tbody tr').length") == 15
    assert "120 places, 15 of them distinct" in page.text() and page.evaluate("document.querySelector('.parts a')") is None
    page.click(".panel summary")
    page.wait("document.querySelector('.panel details').open")
    assert_clean(page, "file://")
    page.open(f"{address}/runs/{ids['parts']}", DRAWN)
    page.click(".parts tbody a")
    page.wait(f"location.pathname === '/runs/{ids['other']}' && ({DRAWN})")
    assert_clean(page, (address, "file://"))
    page.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_a_run_without_a_kernel_says_so(browser, home, width):
    page = browser.page(width, 900).open(f"file://{home[2]}/failed.html", "document.querySelector('main')")
    assert "no kernel" in page.text() and "has passed" in page.text()
    assert_clean(page, "file://")
    page.close()


def test_labels_of_the_plots_do_not_stand_on_each_other(browser, home):
    overlaps = """[...document.querySelectorAll('.roofline, .progress')].flatMap(box => { const texts = [...box.querySelectorAll('text.mark, .ceilings text:not(.ceiling-name)')].map(t => [t.textContent, t.getBoundingClientRect()]);
        return texts.flatMap(([a, p], i) => texts.slice(i + 1).filter(([b, q]) => p.left < q.right && q.left < p.right && p.top + 2 < q.bottom - 2 && q.top + 2 < p.bottom - 2).map(([b]) => a + ' / ' + b)); })"""
    for width, name in itertools.product(WIDTHS, ("one", "gpu", "opencl", "parts")):
        page = browser.page(width).open(f"file://{home[2]}/{name}.html", DRAWN)
        assert page.evaluate(overlaps) == [], (width, name)
        page.close()


def test_no_label_of_a_plot_is_cut_off(browser, home, address):
    outside = """[...document.querySelectorAll('.drawing')].flatMap(box => { const b = box.getBoundingClientRect(); return [...box.querySelectorAll('text')].filter(t => {
        const r = t.getBoundingClientRect(); return r.left < b.left - 1 || r.right > b.right + 1 || r.top < b.top - 1 || r.bottom > b.bottom + 1; }).map(t => t.textContent); })"""
    _, ids, folder = home
    pages = [*(f"file://{folder}/{name}.html" for name in ("one", "gpu", "parts", "large")), f"{address}/compare?a={ids['one']}&b={ids['large']}"]
    for width, url in itertools.product(WIDTHS, pages):
        page = browser.page(width).open(url, "document.querySelector('.drawing text.mark')")
        assert page.evaluate(outside) == [], (width, url)
        page.close()


def test_names_of_slanting_lines_do_not_stand_on_each_other(browser, home):
    # In a frame that is turned as the names are: where each begins and ends along its line, and how far it is from the others' lines.
    overlaps = """(() => { const names = [...document.querySelectorAll('.roofline .ceiling-name')].map(t => { const m = t.transform.baseVal.consolidate().matrix;
          return { text: t.textContent, along: m.e * m.a + m.f * m.b, across: m.f * m.a - m.e * m.b, length: t.getComputedTextLength() }; });
        return names.flatMap((a, i) => names.slice(i + 1).filter(b => Math.abs(a.across - b.across) < 10 && a.along < b.along + b.length && b.along < a.along + a.length).map(b => a.text + ' / ' + b.text)); })()"""
    for width in WIDTHS:
        page = browser.page(width).open(f"file://{home[2]}/one.html", DRAWN)
        assert page.evaluate("document.querySelectorAll('.roofline .ceiling-name').length") >= 2
        assert page.evaluate(overlaps) == []
        # Nor do they reach into the band, where the kernels are.
        assert page.evaluate("""(b => [...document.querySelectorAll('.roofline .ceiling-name')].filter(t => { const r = t.getBoundingClientRect(); return r.left < b.left && r.right > b.left + 4; })
            .map(t => t.textContent))(document.querySelector('.roofline .band').getBoundingClientRect())""") == []
        page.close()


def test_clicks_show_a_kernel_its_source_its_diff_and_its_exchange(browser, home):
    page = browser.page(1280, 900).open(f"file://{home[2]}/one.html", DRAWN)
    data = page.evaluate("JSON.parse(document.getElementById('data').textContent)")
    by_model = next(k for k in data["individuals"] if k.get("prompts") and k["proposal"]["parents"] and k["verdict"] == "passed")
    page.evaluate("document.querySelector('.tree').scrollTop = 0")
    page.wait("document.querySelector('.tree .row')")
    page.click(".tree .row:nth-child(2)")
    index = page.evaluate("document.querySelector('.row.selected').dataset.index")
    page.wait(f"document.querySelector('.detail h3').innerText.startsWith('Kernel {index}')")
    page.click("[data-tab=source]")
    page.wait("document.querySelector('.source code') && document.querySelector('.source code').innerText.includes('kw_kernel')")
    # By its place in the address, as a link would open it.
    page.open("about:blank", "true")
    page.open(f"file://{home[2]}/one.html#kernel-{by_model['index']}", DRAWN)
    page.wait(f"document.querySelector('.detail h3').innerText.startsWith('Kernel {by_model['index']}')")
    page.click("[data-tab=diff]")
    page.wait("document.querySelector('.detail-body').innerText.includes('lines added')")
    page.click("[data-tab=exchange]")
    page.wait("document.querySelector('.exchanges') && document.querySelector('.exchanges').innerText.includes('You write kernels.')")
    failed = next(k for k in data["individuals"] if k["verdict"] != "passed")
    page.click(".diagnoses button")
    page.wait("document.querySelector('.detail .badge.failed')")
    assert failed["diagnosis"].split("\n")[0][:20] in page.text("body")
    assert_clean(page, "file://")
    page.close()


def test_everything_can_be_reached_with_the_keyboard(browser, home):
    page = browser.page(1280, 900).open(f"file://{home[2]}/one.html", DRAWN)
    seen = set()
    for _ in range(60):
        page.key("Tab")
        seen.add(page.evaluate("(e => e.getAttribute('role') || (e.closest('svg') ? 'plot' : e.className || e.tagName))(document.activeElement)"))
    assert {"img", "tree", "tab", "copy"} <= seen, seen
    page.evaluate("document.querySelector('.tree').focus()")
    before = page.evaluate("document.querySelector('.row.selected').dataset.index")
    page.key("ArrowUp")
    after = page.evaluate("document.querySelector('.row.selected').dataset.index")
    assert before != after and page.text(".detail h3").startswith(f"Kernel {after}")
    page.evaluate("document.querySelector('.progress svg').focus()")
    page.key("ArrowLeft")
    assert page.evaluate("document.querySelector('.row.selected').dataset.index") != after
    assert_clean(page, "file://")
    page.close()


def test_planted_script_never_runs(browser, home, address):
    _, ids, folder = home
    for url in (f"file://{folder}/hostile.html", f"{address}/runs/{ids['hostile']}"):
        page = browser.page(1280, 900).open(url, DRAWN)
        for tab in ("source", "overview"):
            page.click(f"[data-tab={tab}]")
            page.wait(f"document.querySelector('[data-tab={tab}]').getAttribute('aria-selected') === 'true'")
        page.wait("document.querySelector('.detail').innerText.includes('<img src=x')")
        assert page.evaluate("document.title") != "owned"
        assert page.evaluate("document.querySelectorAll('img, iframe, #page script').length") == 0
        assert page.errors == []
        page.close()
    page = browser.page(1280, 900).open(address, "document.querySelectorAll('tbody tr').length > 3")
    assert page.evaluate("document.title") == "Kernelwright" and page.evaluate("document.querySelectorAll('img').length") == 0
    page.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_the_list_searches_sorts_and_compares(browser, home, address, width):
    _, ids, _ = home
    page = browser.page(width, 900).open(address, "document.querySelectorAll('tbody tr').length === 9")
    assert page.evaluate("[...document.querySelectorAll('tbody .col-id')].map(e => e.innerText)").count(ids["part"]) == 0
    page.click(".list-head input[type=checkbox]")
    page.wait("document.querySelectorAll('tbody tr').length === 10")
    assert f"part of run {ids['parts']}" in page.evaluate("document.querySelector('tbody').textContent")
    page.click(".list-head input[type=checkbox]")
    page.evaluate("(e => { e.value = 'rms refine'; e.dispatchEvent(new Event('input')); })(document.querySelector('input[type=search]'))")
    assert page.evaluate("[...document.querySelectorAll('tbody .col-id')].map(e => e.innerText)") == [ids["other"]]
    page.evaluate("(e => { e.value = 'rms'; e.dispatchEvent(new Event('input')); })(document.querySelector('input[type=search]'))")
    for number in (1, 2):
        page.click(f"tbody tr:nth-child({number}) input")
    page.click(".button")
    page.wait("location.pathname === '/compare' && document.querySelector('.diff')")
    text = page.text()
    assert "refine" in text and "evolve" in text and "Strategies of the best kernels" in text
    assert_clean(page, address)
    page.close()


def test_a_run_is_followed_while_it_goes_on(browser, home, address):
    kw, ids, _ = home
    page = browser.page(1024, 900).open(f"{address}/runs/{ids['running']}", DRAWN)
    assert "all 6" in page.text(".choices")
    more = individuals(30, random.Random(7), False, False)[6:]
    for part in (more[:1], more[1:10], more[10:]):
        with sqlite3.connect(kw.home / "archive.db") as db:
            add_individuals(db, int(ids["running"]), part)
        page.wait(f"document.querySelector('.choices').innerText.includes('all {part[-1]['index'] + 1}')")
    timed = sum(each["speedup"] > 0 for each in more)
    page.wait(f"document.querySelectorAll('.roofline .dots circle').length >= {timed}")
    assert_clean(page, address)
    page.close()


def test_a_real_search_is_followed_from_its_first_kernel_to_its_end(browser, shared_cache, tmp_path):
    kw = Kernelwright(tmp_path / "home", shared_cache)
    viewer = kw.start("view", "--json")
    text = ""
    while "}" not in text:
        text += viewer.stdout.readline()
    own = json.loads(text)["address"].rstrip("/")
    page = browser.page(1024, 900).open(own, "document.body.innerText.includes('no runs yet')")
    search = kw.start("optimize", "problems/gelu.py", "--evaluations", "3", "--seed", "7", "--baseline", "eager", "--out", tmp_path / "gelu.cpp")
    page.wait("document.querySelector('tbody .state-running')", 200)
    page.click("tbody .col-id a")
    page.wait(f"location.pathname === '/runs/1' && ({DRAWN})", 200)
    page.wait("document.querySelector('nav .badge').innerText === 'done' && document.querySelector('.answer').innerText.includes('18 of 18 checks')", 200)
    assert kw.finish(search).status == PASSED
    assert "all 3" in page.text(".choices") and "faster than PyTorch eager" in page.text() and "search again" in page.text()
    assert_clean(page, own)
    page.close()
    viewer.terminate()
    assert kw.finish(viewer).status == PASSED


def test_two_thousand_kernels_open_and_only_what_is_in_sight_is_drawn(browser, home, address):
    _, ids, folder = home
    for url in (f"file://{folder}/large.html", f"{address}/runs/{ids['large']}"):
        page = browser.page(1440, 900).open(url, DRAWN)
        assert "all 2000" in page.text(".choices")
        assert page.evaluate("document.querySelectorAll('.tree .row').length") < 100
        page.evaluate("document.querySelector('.tree').scrollTop = 1e6")
        page.wait("[...document.querySelectorAll('.tree .row')].some(row => row.getAttribute('aria-posinset') === '2000')")
        assert page.errors == []
        page.close()
