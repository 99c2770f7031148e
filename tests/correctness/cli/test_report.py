"""Runs as pages: the report in one file, the viewer over HTTP, two runs compared, the best of a problem; the man page and completion."""

import concurrent.futures
import html.parser
import http.client
import json
import pathlib
import random
import re
import select
import shutil
import socket
import sqlite3
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

from cli import NOT_PASSED, PASSED, Kernelwright, assert_refused  # noqa: E402
from planted_run import SCRIPT, add_individuals, individuals, plant  # noqa: E402


class Tags(html.parser.HTMLParser):
    """The tags of a page, and the texts inside of its scripts, as a browser would see them."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self.inside = [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts[-1] += data

    def handle_endtag(self, tag):
        self.inside = None


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """A home with two runs of one problem, one with script in all that a kernel or a model could write, and one that goes on."""
    folder = tmp_path_factory.mktemp("planted")
    kw = Kernelwright(folder / "home", folder / "cache")
    ids = {"first": plant(kw, 40, model=True), "second": plant(kw, 25, seed=3, search="refine"), "hostile": plant(kw, 20, hostile=True, model=True),
           "running": plant(kw, 5, name="40_layer_norm", state="running")}
    return kw, ids


@pytest.fixture(scope="module")
def viewer(planted):
    """The port of a viewer of that home."""
    kw, _ = planted
    process = kw.start("view", "--json")
    ready, _, _ = select.select([process.stdout], [], [], 30)
    assert ready, "the viewer does not say where it is"
    text = ""
    while "}" not in text:
        text += process.stdout.readline()
    yield json.loads(text)["port"]
    process.terminate()
    run = kw.finish(process)
    assert run.status == PASSED, run


def ask(port, path, method="GET", host=None, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, body=body, headers={"Host": host or f"127.0.0.1:{port}"})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer, text


def report(kw, run, tmp_path):
    made = kw("report", run, "--out", tmp_path / "page.html")
    assert made.status == PASSED, made
    return (tmp_path / "page.html").read_text()


def test_a_report_is_one_file_that_asks_for_nothing(planted, tmp_path):
    kw, ids = planted
    page = report(kw, ids["first"], tmp_path)
    tags = Tags(page).tags
    assert not [attributes for _, attributes in tags if "src" in attributes], "something is loaded from elsewhere"
    assert [attributes["href"] for tag, attributes in tags if "href" in attributes] == ["data:,"]
    policy = next(a["content"] for tag, a in tags if a.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page), "an address of elsewhere stands in the page"


def test_a_report_has_the_run_its_kernels_and_their_sources(planted, tmp_path):
    kw, ids = planted
    data, texts, _ = Tags(report(kw, ids["first"], tmp_path)).scripts
    data, texts = json.loads(data), json.loads(texts)
    shown = kw("show", ids["first"], "--json").json
    assert [each["index"] for each in data["individuals"]] == list(range(40))
    assert data["run"]["confirmed"] == shown["run"]["confirmed"]
    assert data["evaluation"]["checks"] == 18 and data["roofline"]["bandwidth"] and data["ledger"]
    for kernel in shown["individuals"]:
        assert texts["sources"][texts["source_of"][kernel["index"]]] == kernel["kernel"]["source"]
    assert len(texts["sources"]) < 40, "equal sources stand in the page more than once"
    asked = {prompt for each in data["individuals"] for prompt in each.get("prompts", [])}
    assert asked and asked == {each["prompt_hash"] for each in data["exchanges"]}
    assert "winner" in re.search(r"<noscript>(.*?)</noscript>", report(kw, ids["first"], tmp_path), re.DOTALL)[1]


def test_an_estimate_is_never_told_as_a_speedup_over_eager(tmp_path):
    kw = Kernelwright(tmp_path / "home", tmp_path / "cache")
    run = plant(kw, 8, dsl="cuda-c", seed=3)
    page = report(kw, run, tmp_path)
    data = json.loads(Tags(page).scripts[0])
    assert data["run"]["options"]["dsl"] == "cuda-c" and data["run"]["estimated"] is True
    assert [each["gbytes"] for each in data["roofline"]["bandwidth"]] == [2039, 7219.2] and data["roofline"]["compute"] == [{"name": "fp32", "gflops": 19500}], "the ceilings are not those of that GPU"
    assert data["commands"]["measure"].endswith("kernel.cu --dsl cuda-c --machine a100 --threads 2"), data["commands"]
    assert "vs eager" not in re.search(r"<noscript>(.*?)</noscript>", page, re.DOTALL)[1]
    compared = kw("compare", run, run).out
    assert "not timed" in compared and "NVIDIA A100" in compared and "estimates are not compared" in compared, compared


def test_opencl_is_timed_here_and_told_as_such(tmp_path):
    kw = Kernelwright(tmp_path / "home", tmp_path / "cache")
    run = plant(kw, 8, dsl="opencl")
    data = json.loads(Tags(report(kw, run, tmp_path)).scripts[0])
    assert data["run"]["estimated"] is False and data["roofline"]["threads"] == 2
    assert "--dsl opencl" in data["commands"]["search"] and "kernel.cl --dsl opencl" in data["commands"]["measure"]
    shown = kw("show", run).out
    assert "opencl, run and timed on this machine" in shown and "vs eager" in shown, shown
    assert " in opencl, of 1 confirmed" in kw("best", "50_rms_norm").out
    other = plant(kw, 8, seed=3)
    assert re.search(r"kernels +opencl +cpp +\*", kw("compare", run, other).out)


def test_nothing_that_was_archived_becomes_markup(planted, tmp_path):
    kw, ids = planted
    page = Tags(report(kw, ids["hostile"], tmp_path))
    assert [tag for tag, _ in page.tags if tag in ("script", "img")] == ["script", "script", "script"]
    data, texts, _ = page.scripts
    assert json.loads(data)["run"]["problem_name"] == SCRIPT
    assert any(SCRIPT in source for source in json.loads(texts)["sources"])
    assert "<" not in data and "<" not in texts


def test_reports_by_default_beside_the_caller_and_refuses_what_is_not_there(planted, tmp_path):
    kw, ids = planted
    made = kw("report", ids["second"], folder=tmp_path)
    assert made.status == PASSED and (tmp_path / made.out.strip()).is_file(), made
    assert_refused(kw("report", "999"), "no run 999")
    assert_refused(kw("report", "x"), "'x' is no run")
    assert_refused(kw("report", ids["first"], "--out", tmp_path / "no" / "page.html"), "no folder")
    empty = Kernelwright(tmp_path / "none", kw.cache)
    assert_refused(empty("report", "1"), "no archive")
    assert not (tmp_path / "none").exists(), "looking has made an archive"


def test_the_viewer_serves_pages_with_a_strict_policy(viewer):
    for path in ("/", "/runs/1", "/compare?a=1&b=2"):
        answer, text = ask(viewer, path)
        assert answer.status == 200 and "<div id=\"page\">" in text
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff" and "Access-Control-Allow-Origin" not in answer.headers
        tags = Tags(text).tags
        assert {a["src"] for tag, a in tags if "src" in a} == {"/page.js"} and not [s for s in Tags(text).scripts if s.strip()]
    assert "function runPage" in ask(viewer, "/page.js")[1] and "--ground" in ask(viewer, "/page.css")[1]


def test_the_viewer_answers_with_records(planted, viewer):
    _, ids = planted
    runs = json.loads(ask(viewer, "/api/runs")[1])["runs"]
    assert [run["id"] for run in runs] == [ids["running"], ids["hostile"], ids["second"], ids["first"]]
    one = json.loads(ask(viewer, f"/api/runs/{ids['first']}")[1])
    assert len(one["individuals"]) == 40 and "source" not in json.dumps(one["individuals"][0])
    later = json.loads(ask(viewer, f"/api/runs/{ids['first']}?from=38")[1])
    assert [each["index"] for each in later["individuals"]] == [38, 39]
    assert "kw_kernel" in json.loads(ask(viewer, f"/api/runs/{ids['first']}/kernels/7")[1])["source"]
    exchange = one["exchanges"][0]["id"]
    assert json.loads(ask(viewer, f"/api/runs/{ids['first']}/exchanges/{exchange}")[1])["messages"][0]["content"] == "You write kernels."


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1:1", "127.0.0.1.evil.example:{port}", "10.0.0.1:{port}", "localhost.evil.example", "[::2]:{port}", ""])
def test_the_viewer_refuses_other_hosts(viewer, host):
    answer, text = ask(viewer, "/api/runs", host=host.format(port=viewer) or "x")
    assert answer.status == 421 and "runs" not in json.loads(text)


def test_the_viewer_knows_its_own_names(viewer):
    for host in (f"127.0.0.1:{viewer}", f"localhost:{viewer}", f"[::1]:{viewer}", f"LOCALHOST:{viewer}"):
        assert ask(viewer, "/api/runs", host=host)[0].status == 200


def test_the_viewer_is_read_only_and_says_what_is_not_there(viewer):
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        assert ask(viewer, "/api/runs", method)[0].status == 405, method
    for path in ("/api/runs/999", "/api/runs/1/kernels/999", "/api/runs/1/exchanges/999", "/nothing", "/api/runs/1;DROP", "/../etc/passwd", "/%2e%2e/etc/passwd",
                 "/api/runs/99999999999999999999", "/api/runs/-1"):
        answer, text = ask(viewer, path)
        assert answer.status == 404 and json.loads(text)["error"], path
    assert ask(viewer, "/api/runs/1?from=x")[0].status == 400


@pytest.mark.parametrize("bytes_sent", [b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x00\xff\xfe\x16\x03\x01" * 40, b"GET /" + b"a" * 60000 + b" HTTP/1.1\r\n\r\n",
                                        b"GET / HTTP/1.1\r\nHost: " + b"h" * 60000 + b"\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 5000 + b"\r\n",
                                        b"POST /api/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\nx", b"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"])
def test_the_viewer_survives_malformed_requests(viewer, bytes_sent):
    with socket.create_connection(("127.0.0.1", viewer), timeout=20) as connection:
        try:
            connection.sendall(bytes_sent)
            connection.shutdown(socket.SHUT_WR)
            said = connection.recv(200)
        except OSError:
            said = b""  # it hung up, which is an answer, too
    assert not said.startswith(b"HTTP/1.1 200")
    assert ask(viewer, "/api/runs")[0].status == 200


def test_the_viewer_survives_two_hundred_readers_at_once(planted, viewer):
    _, ids = planted
    paths = ["/", "/page.js", "/api/runs", f"/api/runs/{ids['first']}", f"/api/runs/{ids['hostile']}", f"/api/runs/{ids['first']}/kernels/3"]
    # Half of them hold on to a stream of events meanwhile; beyond the bound they are told to come back.
    streams = [socket.create_connection(("127.0.0.1", viewer), timeout=60) for _ in range(100)]
    for stream in streams:
        stream.sendall(f"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:{viewer}\r\n\r\n".encode())
    with concurrent.futures.ThreadPoolExecutor(100) as pool:
        answers = list(pool.map(lambda k: ask(viewer, paths[k % len(paths)])[0].status, range(300)))
    heads = [stream.recv(4000) for stream in streams]
    for stream in streams:
        stream.close()
    assert set(answers) == {200}
    assert {head[:12] for head in heads} <= {b"HTTP/1.1 200", b"HTTP/1.1 503"}
    assert sum(head.startswith(b"HTTP/1.1 200") for head in heads) >= 90


def event_stream(port):
    """A socket that events come from; earlier listeners may still be about to be let go."""
    for _ in range(100):
        stream = socket.create_connection(("127.0.0.1", port), timeout=30)
        stream.sendall(f"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        if stream.recv(12, socket.MSG_PEEK | socket.MSG_WAITALL) == b"HTTP/1.1 200":
            return stream
        stream.close()
        time.sleep(0.2)
    raise AssertionError("the viewer never lets go of listeners that have gone")


def test_the_viewer_tells_of_what_another_process_writes(planted, viewer):
    kw, ids = planted
    with event_stream(viewer) as stream:
        said = stream.makefile("rb")

        def next_news():
            for line in said:
                if line.startswith(b"data: "):
                    return {each["id"]: each["individuals"] for each in json.loads(line[6:])}
            raise AssertionError("the stream has ended")

        before = next_news()[ids["running"]]
        more = individuals(before + 2, random.Random(1), False, False)[before:]
        with sqlite3.connect(kw.home / "archive.db") as db:
            add_individuals(db, int(ids["running"]), more)
        assert next_news() == {ids["running"]: before + 2}


def test_the_viewer_waits_for_an_archive_and_refuses_a_taken_port(viewer, tmp_path):
    kw = Kernelwright(tmp_path / "none", tmp_path / "cache")
    assert_refused(kw("view", "--port", viewer), "127.0.0.1")
    assert_refused(kw("view", "--host", "203.0.113.7"), "203.0.113.7")
    process = kw.start("view", "--json")
    text = ""
    while "}" not in text:
        text += process.stdout.readline()
    assert json.loads(ask(json.loads(text)["port"], "/api/runs")[1])["runs"] == []
    process.terminate()
    assert kw.finish(process).status == PASSED and not (tmp_path / "none").exists()


def test_searches_on_sub_problems_are_listed_when_asked_for(tmp_path):
    kw = Kernelwright(tmp_path / "home", tmp_path / "cache")
    whole = plant(kw, 3, name="03_residual_blocks")
    part = plant(kw, 3, name="1f2e3d", part_of=whole)
    assert [run["id"] for run in kw("runs", "--json").json] == [whole]
    assert [run["id"] for run in kw("runs", "--parts", "--json").json] == [part, whole]
    assert f"1f2e3d (part of run {whole})" in kw("runs", "--parts").out
    process = kw.start("view", "--json")
    text = ""
    while "}" not in text:
        text += process.stdout.readline()
    assert [run.get("part_of") for run in json.loads(ask(json.loads(text)["port"], "/api/runs")[1])["runs"]] == [whole, None]
    process.terminate()
    assert kw.finish(process).status == PASSED


def test_compares_two_runs_and_finds_the_best(planted, tmp_path):
    kw, ids = planted
    compared = kw("compare", ids["first"], ids["second"])
    assert compared.status == PASSED, compared
    for word in ("evolve", "refine", "vs eager", "strategies", "interval"):
        assert word in compared.out, compared
    assert "different problems" in kw("compare", ids["first"], ids["hostile"]).out
    assert_refused(kw("compare", ids["first"], "999"), "no run 999")
    shown = kw("compare", ids["first"], ids["second"], "--json").json
    assert shown["first"]["id"] == ids["first"] and shown["conclusion"]

    best = kw("best", "50_rms_norm", "--out", tmp_path / "k.cpp", "--json")
    assert best.status == PASSED, best
    lower = {each: next(c["interval"]["low"] for c in shown[each]["confirmed"]["comparisons"] if c["baseline"] == "eager") for each in ("first", "second")}
    assert best.json["run"]["id"] == shown[max(lower, key=lower.get)]["id"] and best.json["confirmed_runs"] == 2
    assert "Written by Kernelwright" in (tmp_path / "k.cpp").read_text()
    assert_refused(kw("best", "nothing_like_it"), "nothing_like_it")
    assert_refused(kw("best", "40_layer_norm"), "no run has confirmed")


def test_a_loss_is_told_as_one_everywhere(tmp_path):
    kw = Kernelwright(tmp_path / "home", tmp_path / "cache")
    run = plant(kw, 12, over_eager=0.39)
    for words in (("show", run), ("best", "50_rms_norm")):
        said = kw(*words)
        assert said.status == PASSED and said.out.startswith("PyTorch is faster here: the kernel has 0.39x the speed of eager"), said
    assert "winner" not in kw("show", run).out
    lost = kw("best", "50_rms_norm", "--require-win", "--out", tmp_path / "k.cpp", "--json")
    assert lost.status == NOT_PASSED and lost.json["against_pytorch"]["standing"] == "slower", lost
    assert (tmp_path / "k.cpp").exists() and "PyTorch is faster here." in (tmp_path / "k.cpp").read_text(), "the file is offered all the same"
    page = report(kw, run, tmp_path)
    assert json.loads(Tags(page).scripts[0])["run"]["standing"]["standing"] == "slower"
    assert "PyTorch is faster here" in re.search(r"<noscript>(.*?)</noscript>", page, re.DOTALL)[1]
    assert kw("runs", "--json").json[0]["standing"] == "slower" and "0.39x (slower)" in kw("runs").out
    won = plant(kw, 12, seed=4)
    assert kw("best", "50_rms_norm", "--require-win").status == PASSED and kw("show", won).out.startswith("faster than PyTorch here: ")


def test_a_list_has_the_confirmed_number_or_none(tmp_path):
    kw = Kernelwright(tmp_path / "home", tmp_path / "cache")
    run = plant(kw, 12, over_eager=2.05)
    plant(kw, 6, name="40_layer_norm", state="running")
    listed = {each["problem_name"]: each for each in kw("runs", "--json").json}
    assert listed["50_rms_norm"]["confirmed_speedup"] == 2.05 and listed["40_layer_norm"]["confirmed_speedup"] is None
    rows = kw("runs").out.splitlines()
    assert any("50_rms_norm" in row and "2.05x" in row for row in rows) and any("40_layer_norm" in row and "not confirmed" in row for row in rows), rows
    seen = max(each["speedup"] for each in kw("show", run, "--json").json["individuals"])
    assert f"{seen:.2f}x" not in kw("show", run).out, "the winner has two numbers"


def test_every_command_shows_examples_in_its_help(kw_alone):
    top = kw_alone("--help").out
    commands = re.findall(r"^  ([a-z]+)  +\S", top[top.index("Subcommands"):] if "Subcommands" in top else top[top.index("SUBCOMMANDS"):], re.MULTILINE)
    assert {"report", "view", "compare", "best", "man", "completion", "optimize"} <= set(commands), top
    for command in commands:
        names = [[command, each] for each in {"model": ["fetch", "serve", "test"], "vgpu": ["run", "profile"]}.get(command, [])] or [[command]]
        for name in names:
            said = kw_alone(*name, "--help").out
            assert re.search(r"Examples?:\n  .*kernelwright", said), f"{name} has no example"
            options = said[said.index("Options:"):said.index("Example")]
            assert max(map(len, options.splitlines())) <= 100, f"{name} does not fit a terminal"
            assert " in [" not in options, f"{name} shows how a value is checked"


def test_the_man_page_and_the_completions_know_every_command(kw_alone):
    man = kw_alone("man").out
    assert man.startswith(".TH KERNELWRIGHT 1")
    for command in ("optimize", "report", "view", "compare", "best", "vgpu profile", "model fetch"):
        assert f".SS kernelwright {command}" in man
    if shutil.which("groff"):
        said = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=man, capture_output=True, text=True)
        assert said.returncode == 0 and not said.stderr, said.stderr
    for shell in ("bash", "zsh", "fish"):
        assert "optimize" in kw_alone("completion", shell).out
    assert_refused(kw_alone("completion", "tcsh"), "tcsh", "bash")


@pytest.mark.parametrize("words, expected", [("opt", {"optimize"}), ("report --o", {"--out"}), ("vgpu pro", {"profile"}), ("vgpu run --gp", {"--gpu"}), ("co", {"compare", "completion"})])
def test_bash_completes(kw_alone, tmp_path, words, expected):
    (tmp_path / "completion").write_text(kw_alone("completion", "bash").out)
    typed = ["kernelwright", *words.split()]
    script = f"source {tmp_path}/completion; COMP_WORDS=({' '.join(typed)}); COMP_CWORD={len(typed) - 1}; _kernelwright; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    said = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=tmp_path)
    assert set(said.stdout.split()) == expected, said


@pytest.fixture
def kw_alone(tmp_path):
    return Kernelwright(tmp_path / "home", tmp_path / "cache")
