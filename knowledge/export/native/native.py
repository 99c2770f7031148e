"""The compiled part: loaded where this processor and this PyTorch can run it, else left alone with one warning that says why."""

import json
import pathlib
import platform
import re
import warnings

import torch

from .kernel_module import Contract

FOLDER = pathlib.Path(__file__).parent
NAMESPACE = "@namespace@"
CONTRACT = Contract(json.loads((FOLDER / "contract.json").read_text(encoding="utf-8")))


def processor_features() -> set[str] | None:
    """What this processor has, as Linux lists it; None where nothing says so."""
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    lists = re.findall(r"^(?:flags|Features)\s*:\s*(.*)$", text, re.MULTILINE)
    return set(lists[0].split()) if lists else None


def is_loaded() -> bool:
    """Another copy of the same kernel may be there, from another folder: it serves as well."""
    return hasattr(getattr(torch.ops, NAMESPACE), "forward")


def load() -> str | None:
    """Loads the library; why it cannot be, or None."""
    try:
        built_for = json.loads((FOLDER / "built_for.json").read_text(encoding="utf-8"))
    except OSError:
        return "it has not been compiled: install the package"
    present = processor_features()
    missing = sorted(set(built_for["features"]) - present) if present is not None else []
    if missing:  # looked at before anything of it runs: an unknown instruction would end the process
        return f"it was compiled for a processor with {', '.join(missing)}, which this one ({platform.machine()}) lacks: build it here"
    try:
        torch.ops.load_library(str(FOLDER / "kernel.so"))
    except OSError as error:
        return f"it was built with PyTorch {built_for['torch']} and does not load into {torch.__version__}: build it again ({error})"
    return None


def _fake(*_arguments):
    made = CONTRACT.made_outputs()
    return made[0] if len(made) == 1 else tuple(made)


WAS_LOADED = is_loaded()
UNAVAILABLE = None if WAS_LOADED else load()
OPERATOR = None
if UNAVAILABLE is None:
    if not WAS_LOADED:
        torch.library.register_fake(f"{NAMESPACE}::forward", _fake)
    OPERATOR = getattr(torch.ops, NAMESPACE).forward.default
else:
    warnings.warn(f"the kernel of @name@ is not used: {UNAVAILABLE}; the original module does its work", RuntimeWarning, stacklevel=2)


def forget_prepared() -> None:
    """Drops what was made of weights. Only needed after changes that PyTorch does not count, such as those through `.data`."""
    if OPERATOR is not None:
        getattr(torch.ops, NAMESPACE).forget()
