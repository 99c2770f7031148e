"""The program tells the version that the build has."""

import re

from project import read_text


def test_one_version():
    built = re.search(r"project\(kernelwright VERSION (\S+)", read_text("CMakeLists.txt"))[1]
    told = re.search(r'kVersion = "([^"]+)"', read_text("src/base/version.h"))[1]
    assert told == built
