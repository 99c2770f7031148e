"""The first life of a candidate: read, looked at, loaded, so that its extensions are compiled. What came of it is outcome.json."""

import ast
import json
import os
import re
import sys

_ERROR = re.compile(r"^(?:.*/)?([\w.]+\.(?:cpp|h|hpp)):(\d+):\d+: (?:fatal )?error: (.*)$", re.MULTILINE)
_UNDEFINED = re.compile(r"undefined (?:reference to|symbol:) .*$", re.MULTILINE)


def _extension_fault(error, Fault, folder):
    """From what ninja printed: the first real errors, with the lines of the inline source."""
    text, evidence = str(error), []
    for name, line, message in _ERROR.findall(text)[:3]:
        evidence.append(f"{name}:{line}: {message}")
        for root, _folders, files in os.walk(folder):
            if name in files:
                with open(os.path.join(root, name), encoding="utf-8", errors="replace") as source:
                    lines = source.read().splitlines()
                if 0 < int(line) <= len(lines):
                    evidence.append("  " + lines[int(line) - 1].strip()[:160])
                break
    evidence += [each[:200] for each in _UNDEFINED.findall(text)[:2]]
    return Fault("the inline C++ does not compile", "main.cpp is your cpp_sources below PyTorch's own include", "compile_failed",
                 evidence=evidence or [" ".join(text.split())[:300]])


def first_look(text):
    """What kernelguard's rules say, where it is installed: hints for a reader, never a verdict."""
    try:
        import kernelguard
    except ImportError:
        return {"kernelguard": None}
    try:
        found = kernelguard.analyze_code(text)
        rules = sorted({each.get("pattern", "?") for each in found.get("matched_patterns", [])})
        return {"kernelguard": {"rules": rules, "classification": found.get("classification", "")}}
    except Exception as error:  # noqa: BLE001: a linter that stumbles says nothing about the candidate
        return {"kernelguard": {"rules": [], "classification": f"failed: {error}"[:200]}}


def build(folder):
    with open(os.path.join(folder, "task.json"), encoding="utf-8") as file:
        task = json.load(file)
    path = os.path.join(folder, "candidate.py")
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        text = file.read()
    outcome = {}
    try:
        ast.parse(text, path)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", 0) or 0
        return {"fault": {"summary": f"syntax error: {getattr(error, 'msg', error)}", "hint": "Python cannot read the file", "verdict": "compile_failed",
                          "place": f"{task['file']}:{line}" if line else "", "evidence": [(getattr(error, "text", "") or "").rstrip()[:160]]}}
    outcome.update(first_look(text))
    os.environ.update(CXX="g++", CC="gcc", CCACHE_DISABLE="1")  # the system's other names for them lead through files that are not shown
    from . import extensions, virtual_cuda
    from .candidate import Candidate, Fault, fault_of

    candidate = Candidate(path, task["call"])
    try:
        if task["triton"]:
            virtual_cuda.activate(task)
        extensions.build_only_cpp()
        try:
            candidate.load()
            model = candidate.build(0)
            if task["warm"]:
                _call_once(candidate, model, task)
        except Fault as error:
            if "Error building extension" in error.summary:
                raise _extension_fault(error.__context__ or error.summary, Fault, task["extensions"]) from None
            raise
    except Fault as error:
        outcome["fault"] = error.told(task["file"])
    return outcome


def _call_once(candidate, model, task):
    """Triton compiles when it is called, and so may extensions. Whether it works is seen later, with real inputs."""
    import torch

    leaves = []
    for each in task["arguments"]:
        if each["kind"] == "scalar":
            leaves.append(each["value"])
        elif each["kind"] == "input":
            leaves.append(torch.zeros(max(each["span"], 1), dtype=getattr(torch, each["dtype"])).as_strided(each["shape"], each["strides"]))
    try:
        with torch.no_grad():
            model(*candidate.arguments(leaves))
    except Exception as error:  # noqa: BLE001
        if "Error building extension" in str(error):
            from .candidate import Fault

            raise _extension_fault(error, Fault, task["extensions"]) from None


def main(folder):
    outcome = build(folder)
    sys.stdout.flush()
    with open(os.path.join(folder, "outcome.json"), "w", encoding="utf-8") as file:
        json.dump(outcome, file)
    os._exit(0)
