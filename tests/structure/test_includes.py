"""A room includes only itself and the rooms in its row of src/CMakeLists.txt."""

import re

from project import ROOT, project_files, read_text

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.MULTILINE)
RAW_STRING = re.compile(r'R"([^()\\\s]{0,16})\(.*?\)\1"', re.DOTALL)
ROW = re.compile(r"^kw_room\(\s*(\w+)([^)]*)\)", re.MULTILINE)
CPP = {".cpp", ".h"}


def rooms_allowed(cmake_text):
    """Room -> the rooms that it may include, itself among them."""
    rows = {name: used.split() for name, used in ROW.findall(cmake_text)}
    return {name: {name} | {used for used in row if used in rows} for name, row in rows.items()}


def includes_of(text):
    """The quoted includes of C++ text; those inside raw strings are generated source, not ours."""
    return INCLUDE.findall(RAW_STRING.sub('""', text))


def wrong_include(room, included, allowed):
    """What is wrong with an include in a room of src/, or None."""
    if "/" not in included or included.startswith("."):
        return f"write it as \"room/file.h\", from src/: \"{included}\""
    target = included.split("/")[0]
    if room not in allowed:
        return f"room '{room}' has no row in src/CMakeLists.txt"
    if target not in allowed[room]:
        return f"room '{room}' may not include '{target}': it is not in its row of src/CMakeLists.txt"
    if not (ROOT / "src" / included).is_file():
        return f"there is no src/{included}"
    return None


def test_every_room_includes_only_the_rooms_of_its_row():
    allowed = rooms_allowed(read_text("src/CMakeLists.txt"))
    wrong, seen = [], 0
    for path in project_files():
        if path.parts[0] != "src" or path.suffix not in CPP:
            continue
        for included in includes_of(read_text(path)):
            seen += 1
            problem = wrong_include(path.parts[1], included, allowed)
            if problem:
                wrong.append(f"{path}: {problem}")
    assert seen > 50, "the includes of src/ were not found: has its layout changed?"
    assert not wrong, "\n".join(wrong)


def test_apps_include_files_that_exist():
    wrong = []
    for path in project_files():
        if path.parts[0] != "apps" or path.suffix not in CPP:
            continue
        for included in includes_of(read_text(path)):
            if not ((ROOT / "src" / included).is_file() or (ROOT / path.parent / included).is_file()):
                wrong.append(f"{path}: there is no \"{included}\" in src/ or beside it")
    assert not wrong, "\n".join(wrong)


def test_no_row_uses_a_room_that_uses_it():
    allowed = rooms_allowed(read_text("src/CMakeLists.txt"))
    circles = [(a, b) for a in allowed for b in allowed[a] if a < b and a in allowed[b]]
    assert not circles


def test_the_reader_finds_what_it_should():
    allowed = rooms_allowed("kw_room(base fmt::fmt)\nkw_room(record base)\nkw_room(verify base\n        record)\n")
    assert allowed == {"base": {"base"}, "record": {"record", "base"}, "verify": {"verify", "base", "record"}}
    text = '#include <vector>\n  #  include "base/result.h"\nauto s = R"(\n#include "problem.h"\n)";\n#include "record/tensor.h"\n'
    assert includes_of(text) == ["base/result.h", "record/tensor.h"]
    assert "may not include 'verify'" in wrong_include("record", "verify/verify.h", allowed)
    assert "no row" in wrong_include("serve", "base/result.h", allowed)
    assert "there is no" in wrong_include("record", "base/no_such_file.h", allowed)
    assert wrong_include("record", "../base/result.h", allowed)
    assert wrong_include("record", "base/result.h", allowed) is None
