"""Serves a model in GGUF form on the loopback interface until standard input ends, which it does when the parent dies.

Options: file, threads, context, port (0: any), key."""

import os
import sys
import threading
import time

from kw_model.say import Failure, say


def serve(options):
    begin = time.monotonic()
    try:
        import xllamacpp
    except ImportError as error:
        raise Failure(f"xllamacpp cannot be loaded: {error}", "kernelwright model fetch") from None
    # Watched from the start: loading takes seconds, in which the parent may go.
    threading.Thread(target=end_with_parent, daemon=True).start()
    params = xllamacpp.CommonParams()
    params.model.path = options["file"]
    params.model_alias = {"local"}
    params.n_ctx = options["context"]
    params.n_parallel = 1
    params.cpuparams.n_threads = options["threads"]
    params.cpuparams_batch.n_threads = options["threads"]
    params.hostnames = ["127.0.0.1"]
    params.port = options["port"]
    params.api_keys = [options["key"]]
    params.cache_ram_mib = 512  # prompts that were read; each role begins with the same words
    params.ui = False
    params.endpoint_slots = False
    params.offline = True
    params.verbosity = 1
    try:
        server = xllamacpp.Server(params)
    except Exception as error:
        raise Failure(f"llama.cpp cannot serve {options['file']}: {error}",
                      "is there enough memory (about 2 GB) and is the port free? kernelwright model fetch checks the file") from None
    say("ready", address=server.listening_address, seconds=time.monotonic() - begin)
    threading.Event().wait()


def end_with_parent():
    while sys.stdin.readline():
        pass
    os._exit(0)
