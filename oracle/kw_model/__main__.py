"""python -m kw_model fetch|serve: options as one line of JSON on standard input; see fetch.py and serve.py."""

import json
import sys

from kw_model.say import Failure, say


def main():
    try:
        options = json.loads(sys.stdin.readline())
        if sys.argv[1:] == ["fetch"]:
            from kw_model.fetch import fetch
            fetch(options)
        elif sys.argv[1:] == ["serve"]:
            from kw_model.serve import serve
            serve(options)
        else:
            raise Failure("usage: python -m kw_model fetch|serve")
    except Failure as failure:
        say("error", message=str(failure), hint=failure.hint)
        sys.exit(1)
    except OSError as error:
        say("error", message=str(error), hint="check the free disk space and the permissions of the cache folder")
        sys.exit(1)


if __name__ == "__main__":
    main()
