"""`python -m kernelwright_triton FILE.py [arguments...]`: the program as Python runs it, with the virtual GPU active. Settings come from
the variables that activate() reads; `kernelwright vgpu run FILE.py` sets them."""

import os
import runpy
import sys
import traceback

from .errors import SetupError, VirtualGpuError


def _refuse(error):
    print(f"kernelwright: {error}", file=sys.stderr)
    return 2


def _users_frames(trace, hidden):
    """The traceback without frames of files in these folders; all of it where nothing would be left."""
    kept = [(frame, line) for frame, line in traceback.walk_tb(trace) if not frame.f_code.co_filename.startswith(hidden)]
    return [traceback.FrameSummary(frame.f_code.co_filename, line, frame.f_code.co_name) for frame, line in kept]


def _show(error):
    """The user's own exception as Python shows it, without the frames that started the program."""
    ours = os.path.dirname(os.path.abspath(__file__)) + os.sep
    hidden = (ours, runpy.__file__, "<frozen runpy>")
    if isinstance(error, VirtualGpuError):  # what matters is the launch, not how Triton came from there to here
        import triton

        hidden += (os.path.dirname(os.path.abspath(triton.__file__)) + os.sep,)
        print("Traceback (most recent call last):", file=sys.stderr)
        print("".join(traceback.format_list(_users_frames(error.__traceback__, hidden))), end="", file=sys.stderr)
        print("".join(traceback.format_exception_only(error)), end="", file=sys.stderr)
        return
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None and trace.tb_frame.f_code.co_filename.startswith(hidden):
        trace = trace.tb_next
    traceback.print_exception(type(error), error, trace)


def main(words):
    if not words:
        return _refuse(SetupError("no program was named", "python -m kernelwright_triton FILE.py [arguments...]"))
    file = words[0]
    if not os.path.isfile(file):
        return _refuse(SetupError(f"there is no file {file}", "name a Python program"))
    from .session import activate

    try:
        activate()
    except SetupError as error:
        return _refuse(error)
    sys.argv = list(words)
    sys.path[0] = os.path.dirname(os.path.abspath(file))
    try:
        runpy.run_path(file, run_name="__main__")
    except Exception as error:
        sys.stdout.flush()
        _show(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
