"""What the helper tells its parent: one JSON object a line."""

import json
import sys


class Failure(Exception):
    """What the user has to know; the hint says what to do."""

    def __init__(self, message, hint=""):
        super().__init__(message)
        self.hint = hint


def say(event, **fields):
    print(json.dumps({"event": event, **fields}), flush=True)
