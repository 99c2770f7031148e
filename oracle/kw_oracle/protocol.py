"""JSON lines: reading a request, writing an answer. NaN and infinities never reach the wire."""

import json

from kw_oracle.errors import bad_request

_KINDS = {str: "a string", int: "an integer", float: "a number", list: "a list", bool: "true or false"}


def encode(message: dict) -> str:
    return json.dumps(message, allow_nan=False, separators=(",", ":"))


def parse_request(line: str) -> dict:
    try:
        request = json.loads(line)
    except ValueError as error:
        raise bad_request(f"not a JSON object: {error}", "send one JSON object per line") from None
    except RecursionError:
        raise bad_request("not a request: nested too deeply", "send one JSON object per line") from None
    if not isinstance(request, dict):
        raise bad_request("a request is a JSON object, not " + type(request).__name__, "send one JSON object per line")
    return request


def field(request: dict, name: str, kind: type, default=None, choices=None):
    """A field of the request, checked; without a default it has to be there."""
    if name not in request:
        if default is not None:
            return default
        raise bad_request(f"'{request.get('op')}' needs the field '{name}'")
    value = request[name]
    if not isinstance(value, (int, float) if kind is float else kind) or (kind is not bool and isinstance(value, bool)):
        raise bad_request(f"the field '{name}' has to be {_KINDS[kind]}, not {value!r}"[:300])
    if choices is not None and value not in choices:
        raise bad_request(f"the field '{name}' is '{value}'", "use one of " + ", ".join(choices))
    return value


def seed_field(request: dict, name: str, default=None) -> int:
    seed = field(request, name, int, default)
    if not 0 <= seed < 2**64:
        raise bad_request(f"the field '{name}' is {seed}", "use a seed from 0 to 2^64-1")
    return seed
