"""The fixtures of tests/support/cli.py."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

from cli import drawn, kw, private_cache, shared_cache  # noqa: E402, F401
