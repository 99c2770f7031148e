"""Each seeded bug is found, with its kind, on the line that says so: `// expect: kind` or, for what may come of it, `// expect: kind,
perhaps kind`. Nothing else is found in these programs."""

import re

import pytest
from nvidia import HERE, find_nvcc, vgpu

pytestmark = pytest.mark.skipif(find_nvcc() is None, reason="there is no nvcc")

EXPECTATION = re.compile(r"// expect: (\w+)(?:, perhaps (\w+))?")
QUICK = {"missing_barrier", "off_by_one_write"}
BUGS = sorted(path.stem for path in (HERE / "bugs").glob("*.cu"))
WITHOUT_LINE = {"launch_limit", "invalid_free"}  # what the host does has no line


def expectations(source, group=1):
    """(kind, line) of what must be found, or with group 2 of what may be."""
    return [(match.group(group), number) for number, line in enumerate(source.read_text().splitlines(), 1)
            if (match := EXPECTATION.search(line)) and match.group(group)]


def test_every_bug_says_what_is_expected():
    assert len(BUGS) >= 20
    assert [name for name in BUGS if not expectations(HERE / "bugs" / f"{name}.cu")] == []


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in BUGS])
def test_bug(name):
    source = HERE / "bugs" / f"{name}.cu"
    expected = expectations(source)
    run = vgpu("run", source, options=["--json", "--timeout", "20"])
    result = run.json
    assert result["status"] == 0, run  # the program itself agrees with the error that it sees
    findings = result["findings"]
    assert findings, run
    perhaps = expectations(source, 2)
    assert {finding["kind"] for finding in findings} - {kind for kind, _ in perhaps} == {kind for kind, _ in expected}, run
    if name == "copy_past_end" or expected[0][0] in WITHOUT_LINE:
        return
    places = {(finding["kind"], finding["line"]) for finding in findings}
    assert places <= set(expected + perhaps), run
    assert all(finding["file"].endswith(source.name) and finding["kernel"] for finding in findings), run
    assert run.status == 1, run


def test_findings_are_readable():
    run = vgpu("run", HERE / "bugs" / "off_by_one_write.cu")
    assert run.status == 1, run
    for words in ("out_of_bounds", "fill(int*, int)", "off_by_one_write.cu:7", "thread (100,0,0) of block (0,0,0)", "cudaMalloc #1", "1 finding"):
        assert words in run.err, f"'{words}' is missing\n{run}"
