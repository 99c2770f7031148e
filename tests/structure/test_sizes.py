"""No source file is longer than 600 lines."""

from project import project_files, read_text

LIMIT = 600
SOURCES = {".cpp", ".h", ".py", ".sh", ".cmake"}


def test_no_source_file_is_past_the_limit():
    sources = [path for path in project_files() if path.suffix in SOURCES or path.parts[0] == "tools"]
    assert sources
    lengths = {str(path): (read_text(path) or "").count("\n") for path in sources}
    long = [f"{path} has {lines} lines, more than {LIMIT}: split it" for path, lines in lengths.items() if lines > LIMIT]
    assert not long, "\n".join(long)
