"""What the documents say of the project's folders is so."""

import re

from project import ROOT, project_files, read_text

TOP = "apps|src|oracle|python|knowledge|prompts|problems|tests|bench|docs|cmake|tools"
# A path in backticks, or the first word of a line of a folder map.
MENTION = re.compile(rf"`((?:{TOP})/[\w./-]*)`|^\s*((?:{TOP})/[\w./-]*)(?=\s|$)", re.MULTILINE)
PAGE_LINES, PAGE_CHARACTERS = 60, 5000


def paths_mentioned(text):
    return [quoted or listed for quoted, listed in MENTION.findall(text)]


def documents():
    names = ("README.md", "CONTRIBUTING.md")
    return [p for p in project_files() if str(p) in names or (p.suffix == ".md" and p.parts[0] == "docs")
            or (p.name == "README.md" and p.parts[0] == "src")]


def test_every_path_that_a_document_names_exists():
    mentions = [(document, path) for document in documents() for path in paths_mentioned(read_text(document))]
    assert mentions, "no document names a folder: have the maps moved?"
    missing = [f"{document}: there is no {path}" for document, path in mentions if not (ROOT / path).exists()]
    assert not missing, "\n".join(missing)


def test_every_room_has_a_readme_of_at_most_a_page():
    rooms = sorted({path.parts[1] for path in project_files() if path.parts[0] == "src" and len(path.parts) > 2})
    assert rooms
    wrong = []
    for room in rooms:
        readme = ROOT / "src" / room / "README.md"
        if not readme.is_file():
            wrong.append(f"src/{room}/README.md is missing")
            continue
        text = readme.read_text(encoding="utf-8")
        if text.count("\n") > PAGE_LINES or len(text) > PAGE_CHARACTERS:
            wrong.append(f"src/{room}/README.md is longer than a page ({PAGE_LINES} lines, {PAGE_CHARACTERS} characters)")
    assert not wrong, "\n".join(wrong)


def test_the_tour_leads_through_every_room():
    rooms = {f"src/{path.parts[1]}/" for path in project_files() if path.parts[0] == "src" and len(path.parts) > 2}
    assert rooms
    assert not rooms - set(paths_mentioned(read_text("docs/tour.md"))), "rooms that docs/tour.md does not name"


def test_the_reader_finds_what_it_should():
    text = "see `src/base/` and `src/record/problem.h`, not `a/b`\n```\nsrc/archive/   SQLite\n  tests/ bench/\n```\n`tests/*.cpp`\n"
    assert paths_mentioned(text) == ["src/base/", "src/record/problem.h", "src/archive/", "tests/"]
