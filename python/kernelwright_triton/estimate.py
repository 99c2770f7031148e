"""Triton's benchmarks without a GPU: an estimate from exact counts and the GPU's data sheet takes the place of a time.

It is never a measurement: one call is run, its launches are counted, and the estimates are added up. The same call gives the same
number each time, so that autotuning chooses the same each time."""

import math
import warnings

_told = set()


def _tell_once(text):
    if text not in _told:
        _told.add(text)
        warnings.warn(text, stacklevel=3)


def estimator(device):
    """A function with the interface of triton.testing.do_bench whose answers, in milliseconds, are estimates."""

    def estimated_milliseconds(call, warmup=None, rep=None, grad_to_none=None, quantiles=None, return_mode="mean", **_more):
        with device.estimating() as estimating:
            call()
            seconds = estimating.estimated_seconds
        if seconds == 0:
            _tell_once("nothing of a benchmarked call ran on the virtual GPU: there is no estimate for it")
        milliseconds = seconds * 1000 if seconds > 0 else math.nan
        if quantiles is not None:
            return [milliseconds] * len(quantiles) if len(quantiles) > 1 else milliseconds
        return [milliseconds] if return_mode == "all" else milliseconds

    return estimated_milliseconds


def do_bench_for_users(device):
    """The same for programs that call triton.testing.do_bench themselves, and may take its answer for a measurement."""
    estimated_milliseconds = estimator(device)

    def do_bench(fn, *args, **kwargs):
        _tell_once(f"do_bench gives an estimate for {device.facts['name']}, not a measurement: kernels run on a virtual GPU")
        return estimated_milliseconds(fn, *args, **kwargs)

    return do_bench
