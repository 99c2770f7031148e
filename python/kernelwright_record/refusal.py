"""Why a module cannot be recorded, with the line of its source."""

import traceback


class Refusal(Exception):
    """`verdict` is forbidden or compile_failed. `line` is of the kernel's file; 0: where the exception was raised in it."""

    def __init__(self, message, hint="", verdict="compile_failed", line=0):
        super().__init__(message)
        self.message, self.hint, self.verdict, self.line = message, hint, verdict, line


def line_in(file, error):
    """The innermost line of a file that an exception passed through; 0: none."""
    while error is not None:
        lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == file]
        if isinstance(error, SyntaxError) and error.filename == file:
            lines.append(error.lineno or 0)
        if lines:
            return lines[-1]
        error = error.__cause__ or error.__context__
    return 0
