"""Every command that a document shows is one that the program has, with options that it has."""

import pathlib
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

from cli import PASSED, ROOT, Kernelwright  # noqa: E402

SHOWN = re.compile(r"^(?:\$ )?kernelwright (.*)$", re.MULTILINE)
INLINE = re.compile(r"`kernelwright ([^`]*)`")
NESTED = {"model", "vgpu"}


def commands_shown(text):
    blocks = re.findall(r"```[^\n]*\n(.*?)```", text, re.DOTALL)
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    return [line for block in blocks for line in SHOWN.findall(block)] + INLINE.findall(prose)


def parts(line):
    """The command's words, and the options that follow them."""
    words = line.split("#")[0].replace("\\|", "|").split()
    count = 2 if words and words[0] in NESTED else 1
    return " ".join(words[:count]), sorted(set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", " ".join(words[count:]))))


@pytest.fixture(scope="module")
def helps(tmp_path_factory):
    """The help of a command, asked for once."""
    folder, known = tmp_path_factory.mktemp("docs"), {}
    kw = Kernelwright(folder / "home", folder / "cache")

    def help_of(name):
        if name not in known:
            run = kw(*name.split(), "--help")
            known[name] = run.out if run.status == PASSED else None
        return known[name]

    return help_of


def documents():
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "recipes").glob("*.md"))]


def test_commands_and_options_are_there(helps):
    wrong, seen = [], 0
    for page in documents():
        for line in commands_shown(page.read_text(encoding="utf-8")):
            names, options = parts(line)
            for name in names.split("|") if "|" in names else [names]:  # verify|measure
                if not re.fullmatch(r"[a-z]+( [a-z]+)?", name):
                    continue
                seen += 1
                text = helps(name)
                if text is None:
                    wrong.append(f"{page.name}: there is no command '{name}' (kernelwright {line})")
                    continue
                wrong += [f"{page.name}: '{name}' has no {option} (kernelwright {line})" for option in options
                          if not re.search(rf"{re.escape(option)}\b", text)]
    assert seen > 60, "the commands were not found"
    assert not wrong, "\n".join(wrong)


def test_the_reader_finds_what_it_should():
    text = "`kernelwright show RUN --prompts`\n```\n$ kernelwright verify|measure P K.cpp --threads 2  # --not-this\n  kernelwright no\n```\n"
    found = commands_shown(text)
    assert [parts(line) for line in found] == [("verify|measure", ["--threads"]), ("show", ["--prompts"])]
    assert parts("vgpu run --gpu h100 a.cu") == ("vgpu run", ["--gpu"])
