"""`python -m kw_oracle`: keeps the protocol's pipes to itself, then serves."""

import os
import sys


def private_pipes():
    """The real standard input and output, out of a problem's reach: what it prints goes to standard error, and what it
    reads is empty."""
    requests = os.fdopen(os.dup(0), "r", encoding="utf-8", errors="replace")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdout = sys.stderr
    return requests, answers


def main() -> int:
    requests, answers = private_pipes()
    try:
        from kw_oracle.server import serve

        serve(requests, answers)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 0
    return 0


if __name__ == "__main__":
    status = main()
    sys.stderr.flush()
    # Past a problem's atexit handlers and threads: the last answer has been sent.
    os._exit(status)
