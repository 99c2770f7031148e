"""Nothing in the project is tied to the machine that it was written on."""

import re

from project import ROOT, project_files, read_text

# Not after a character that makes it part of a longer path, a URL or a word.
START = r"(?<![\w.$}~/@-])"
MACHINE_PATHS = re.compile(START + r"/(?:home/\w|Users/\w|root\b|work(?:space)?/\w|mnt/\w|tmp/\w)")
REGISTRIES = re.compile(
    r"pypi\.org/simple|files\.pythonhosted\.org|download\.pytorch\.org|deb\.debian\.org|archive\.ubuntu\.com|ghcr\.io|docker\.io/"
    r"|artifactory|jfrog\.io|\bnexus\.|registry\.npmjs|--(?:extra-)?index-url|--trusted-host", re.IGNORECASE)

# Files whose subject is such a path: what a sandboxed kernel tries to reach, and this test's own examples.
ALLOWED_PATHS = ("tests/redteam/", "tests/honest/", "tests/cases/", "tests/correctness/sandbox/", "tests/error/sandbox/",
                 "tests/structure/test_paths.py")
ALLOWED_REGISTRIES = ("tests/structure/test_paths.py",)


def places(pattern, allowed):
    for path in project_files():
        text = None if str(path).startswith(allowed) else read_text(path)
        for number, line in enumerate((text or "").splitlines(), 1):
            if pattern.search(line):
                yield f"{path}:{number}: {line.strip()[:120]}"


def test_no_path_of_a_machine():
    found = list(places(MACHINE_PATHS, ALLOWED_PATHS))
    assert not found, "\n".join(found)


def test_no_path_of_this_checkout():
    # A short path ("/src", say) is an ordinary word; one of two or more folders is not.
    if len(ROOT.parts) > 2:
        found = list(places(re.compile(re.escape(str(ROOT)) + r"(?![\w-])"), ()))
        assert not found, "\n".join(found)


def test_no_package_registry():
    found = list(places(REGISTRIES, ALLOWED_REGISTRIES))
    assert not found, "\n".join(found)


def test_the_patterns_find_what_they_should():
    for text in ('open("/home/ann/x")', "cd /workspace/x", "`/tmp/x`", "/root", "PATH=/root/bin"):
        assert MACHINE_PATHS.search(text), text
    for text in ("--tmpfs /tmp", "a/home/b", "https://example.com/home/x", "$HOME/work/x", "src/root/a.h", "/usr/bin", "a /rooted tree"):
        assert not MACHINE_PATHS.search(text), text
    assert REGISTRIES.search("pip install --index-url x")
    assert not REGISTRIES.search("pip install -r requirements.txt")
