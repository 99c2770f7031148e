"""The documents read as one: every link leads somewhere, and the pages of docs/README.md follow each other."""

import re

from project import ROOT, project_files, read_text

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
LISTED = re.compile(r"^\d+\. \[([^\]]+)\]\(([\w.-]+)\)", re.MULTILINE)


def pages():
    return [p for p in project_files() if p.suffix == ".md" and (p.parts[0] == "docs" or len(p.parts) == 1)]


def without_code(text):
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def test_every_link_leads_somewhere():
    wrong, seen = [], 0
    for page in pages():
        for target in LINK.findall(without_code(read_text(page))):
            if "://" in target:
                continue
            seen += 1
            path, _, place = target.partition("#")
            found = (ROOT / page.parent / path).resolve() if path else ROOT / page
            if not found.exists():
                wrong.append(f"{page}: there is no {target}")
            elif place and place not in anchors(found.read_text(encoding="utf-8")):
                wrong.append(f"{page}: {path} has no heading #{place}")
    assert seen > 40, "the links were not found"
    assert not wrong, "\n".join(wrong)


def anchors(text):
    return {re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-") for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}


def test_pages_follow_each_other():
    order = LISTED.findall(read_text("docs/README.md"))
    assert len(order) >= 6
    for place, (title, name) in enumerate(order):
        foot = read_text(f"docs/{name}").rsplit("\n---\n", 1)[-1].strip()
        before = f"[previous: {order[place - 1][0]}]({order[place - 1][1]})" if place else ""
        after = f"[next: {order[place + 1][0]}]({order[place + 1][1]})" if place + 1 < len(order) else ""
        assert foot == " · ".join(part for part in (before, "[all pages](README.md)", after) if part), f"docs/{name}, {title}: its foot is\n{foot}"


def test_the_reader_finds_what_it_should():
    assert LINK.findall(without_code("see [a](b.md#c), ```\n[x](y)\n``` and ![p](q.webp)")) == ["b.md#c", "q.webp"]
    assert anchors("# One\n## As C++\n") == {"one", "as-c"}
