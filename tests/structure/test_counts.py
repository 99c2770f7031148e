"""How many of something there are, where a document says it."""

import json
import re

from project import ROOT, project_files, read_text


def told(pattern, *pages):
    found = [int(number) for page in pages for number in re.findall(pattern, read_text(page))]
    assert len(found) >= len(pages), f"no longer said: {pattern}"
    return max(found)


def test_problems():
    assert told(r"over (\d+) problems", "docs/first-kernel.md") < sum(p.parts[0] == "problems" and p.suffix == ".py" for p in project_files())


def test_kernels_that_must_not_pass():
    rows = json.loads((ROOT / "tests" / "redteam" / "cases.json").read_text(encoding="utf-8"))
    assert told(r"[Oo]ver (\d+) kernels that are wrong or cheat", "README.md", "docs/trusting-a-result.md") < len({row["kernel"] for row in rows})
