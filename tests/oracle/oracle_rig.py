"""What tests of the oracle make themselves: the text of a problem, and the oracle as a process."""

import itertools
import json
import os
import pathlib
import subprocess
import sys
import textwrap

ORACLE = pathlib.Path(__file__).resolve().parents[2] / "oracle"
HEADER = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"


def problem_text(forward: str, inputs: str, init: str = "pass", arguments: str = "x", init_inputs: str = "[]",
                 init_arguments: str = "") -> str:
    """A problem from the parts that a test cares about."""
    head = f", {init_arguments}" if init_arguments else ""
    body = textwrap.indent(textwrap.dedent(init).strip(), " " * 8)
    return (HEADER + f"class Model(nn.Module):\n    def __init__(self{head}):\n        super().__init__()\n{body}\n"
            f"    def forward(self, {arguments}):\n{textwrap.indent(textwrap.dedent(forward).strip(), ' ' * 8)}\n"
            f"def get_inputs():\n    return {inputs}\ndef get_init_inputs():\n    return {init_inputs}\n")


class Process:
    """The real oracle over pipes."""

    def __init__(self, **options):
        environment = {**os.environ, "PYTHONPATH": str(ORACLE)}
        self.child = subprocess.Popen([sys.executable, "-m", "kw_oracle"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True, env=environment, **options)
        self.ids = itertools.count(1)

    def send_line(self, line: str) -> list[dict]:
        """All messages up to and with the answer."""
        self.child.stdin.write(line + "\n")
        self.child.stdin.flush()
        messages = []
        while not messages or "event" in messages[-1]:
            answer = self.child.stdout.readline()
            assert answer, "the oracle ended: " + self.child.stderr.read()
            messages.append(json.loads(answer, parse_constant=lambda name: pytest.fail(f"{name} on the wire")))
        return messages

    def ask(self, op: str, **fields) -> dict:
        return self.send_line(json.dumps({"id": next(self.ids), "op": op, **fields}))[-1]

    def close(self) -> str:
        """Ends it by closing its input; what it wrote to standard error."""
        return self.child.communicate(timeout=60)[1]
