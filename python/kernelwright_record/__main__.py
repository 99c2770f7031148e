"""`python -m kernelwright_record SPEC.json RECORDING.json`: runs the module of a kernel's launch() and writes down what it launched, or
why it could not be recorded. The folder of the recording gets the modules of device code."""

import json
import os
import sys
import types

from .knobs import with_knobs
from .recording import Recording
from .refusal import Refusal, line_in


def _side(dsl):
    if dsl == "tilelang":
        from . import tilelang_side

        return tilelang_side
    from . import triton_side

    return triton_side


def _load(spec, file):
    with open(file, encoding="utf-8") as source:
        text = source.read()
    module = types.ModuleType("kernel")
    module.__file__ = file
    sys.modules["kernel"] = module
    exec(compile(with_knobs(text, file, spec["knobs"]), file, "exec"), module.__dict__)  # noqa: S102: this is what the sandbox is for
    launch = getattr(module, "launch", None)
    if not callable(launch):
        raise Refusal("the module has no function launch", f"define {spec['declaration']}")
    return module, launch


def _call(launch, arguments, spec):
    import inspect

    try:
        inspect.signature(launch).bind(*arguments)
    except TypeError as error:
        raise Refusal(f"launch() does not take the problem's arguments: {error}", f"define {spec['declaration']}",
                      line=getattr(getattr(launch, "__code__", None), "co_firstlineno", 0)) from None
    from .tensors import WithoutContents

    with WithoutContents():
        launch(*arguments)


def record(spec, folder):
    from .tensors import ScalarArgument, argument_tensor

    file = os.path.join(folder, "kernel.py")
    recording = Recording.current = Recording(folder)
    side = _side(spec["dsl"])
    try:
        side.prepare(spec)
        module, launch = _load(spec, file)
        arguments = []
        for index, each in enumerate(spec["arguments"]):
            if each["kind"] != "scalar":
                arguments.append(argument_tensor(each, index))
            else:
                arguments.append(ScalarArgument(each["value"], index) if each["dtype"] == "float64" else int(each["value"]))
        _call(launch, arguments, spec)
        if not any(step["do"] == "launch" for step in recording.steps):
            raise Refusal("launch() launches no kernel", "launch at least one; the outputs are its last arguments")
        return recording.to_json()
    except Refusal as refusal:
        return _refused(refusal, refusal.line or line_in(file, refusal))
    except (Exception, SystemExit) as error:
        told = side.explain(error, file) or Refusal(f"{type(error).__name__}: {error}".strip())
        return _refused(told, told.line or line_in(file, error))


def _refused(refusal, line):
    return {"refused": {"message": refusal.message[:2000], "hint": refusal.hint, "verdict": refusal.verdict, "line": line}}


def main(words):
    with open(words[0], encoding="utf-8") as given:
        spec = json.load(given)
    folder = os.path.dirname(os.path.abspath(words[1]))
    answer = record(spec, folder)
    with open(words[1], "w", encoding="utf-8") as out:
        json.dump(answer, out)
    sys.stdout.flush()
    os._exit(0)  # threads that the module left behind are none of ours


if __name__ == "__main__":
    main(sys.argv[1:])
