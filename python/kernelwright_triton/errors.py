"""What users see when something is wrong: with their kernel, with what the virtual GPU has, or with the installation."""

import linecache
import os
from dataclasses import dataclass, fields


class SetupError(RuntimeError):
    """A package or file that is needed is not there, or a setting makes no sense; `hint` says what to do."""

    def __init__(self, message, hint=""):
        super().__init__(message + (f"\n  try: {hint}" if hint else ""))
        self.message, self.hint = message, hint


class UnsupportedError(RuntimeError):
    """The virtual GPU lacks something that the kernel was compiled to."""


@dataclass(frozen=True)
class Finding:
    """One thing that a kernel did wrong, and where."""

    kind: str  # out_of_bounds, misaligned, uninitialised, shared_race, global_race, divergent_barrier, assert, ...
    message: str
    kernel: str = ""
    file: str = ""
    line: int = 0  # of the Python source; 0 where unknown
    ptx_line: int = 0
    block: tuple = (0, 0, 0)  # tl.program_id in its three dimensions
    thread: tuple = (0, 0, 0)
    allocation: str = ""  # the kernel's name for the tensor
    count: int = 1  # how often in this launch
    fatal: bool = False

    @classmethod
    def from_json(cls, json):
        known = {field.name: json[field.name] for field in fields(cls) if field.name in json}
        known["block"], known["thread"] = tuple(known.get("block", (0, 0, 0))), tuple(known.get("thread", (0, 0, 0)))
        return cls(**known)

    def __str__(self):
        lines = [f"{self.kind}: {self.message}"]
        place = f"in {self.kernel}"
        if self.line > 0:
            place += f", {os.path.basename(self.file)}:{self.line}"
            source = linecache.getline(self.file, self.line).strip()
            place += f": {source}" if source else ""
        lines.append(place)
        if self.kind != "launch_limit":
            lines.append(f"by thread {self.thread} of program {self.block}")
        if self.allocation:
            lines.append(f"memory: {self.allocation}")
        if self.count > 1:
            lines.append(f"{self.count} times in this launch")
        return "\n    ".join(lines)


class VirtualGpuError(RuntimeError):
    """A launch with findings. Its fields are the first finding's; `findings` has them all, what stopped the launch first."""

    def __init__(self, findings):
        self.findings = list(findings)
        super().__init__("\n".join(str(finding) for finding in self.findings))

    def __reduce__(self):
        return VirtualGpuError, (self.findings,)

    def __getattr__(self, name):
        if name != "findings" and name in Finding.__dataclass_fields__:
            return getattr(self.findings[0], name)
        raise AttributeError(name)
