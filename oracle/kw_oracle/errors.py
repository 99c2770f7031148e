"""The one exception that reaches a client: a kind of the protocol, a sentence, and what to do about it."""


class OracleError(Exception):
    def __init__(self, kind: str, message: str, hint: str = ""):
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.hint = hint


def bad_problem(message: str, hint: str = "") -> OracleError:
    return OracleError("bad_problem", message, hint)


def unsupported(message: str, hint: str = "") -> OracleError:
    return OracleError("unsupported", message, hint)


def bad_request(message: str, hint: str = "") -> OracleError:
    return OracleError("bad_request", message, hint)


def one_line(text: object, limit: int = 300) -> str:
    """The first lines of a message as one line, cut where it gets long."""
    line = " ".join(str(text).split())
    return line if len(line) <= limit else line[: limit - 3] + "..."
