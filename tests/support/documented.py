"""What docs/json.md says of a printed object, held against one."""

import re

from cli import ROOT


def documented(heading: str) -> dict:
    """Field -> type, from the table below a heading of docs/json.md."""
    text = (ROOT / "docs" / "json.md").read_text()
    section = re.search(rf"^##+ {re.escape(heading)}\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)
    assert section, f"docs/json.md has no heading '{heading}'"
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", section.group(1), re.MULTILINE)
    assert rows, f"docs/json.md has no table below '{heading}'"
    return dict(rows)


KINDS = {"string": str, "integer": int, "boolean": bool, "array": list, "object": dict, "number": (int, float)}


def assert_documented(value: dict, heading: str):
    """Every documented field is there with its type, and no other."""
    fields = documented(heading)
    needed = {name for name, kind in fields.items() if ", only" not in kind}
    assert needed <= set(value) <= set(fields), f"{heading}: {set(value) ^ set(fields)} differ from docs/json.md"
    for name, kind in fields.items():
        if name not in value or (value[name] is None and "or null" in kind):
            continue
        expected = KINDS[re.match(r"\w+", kind).group()]
        assert isinstance(value[name], expected), f"{heading}.{name} is {value[name]!r}, not {kind}"
        assert expected is bool or not isinstance(value[name], bool), f"{heading}.{name} is {value[name]!r}, not {kind}"
