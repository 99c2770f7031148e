"""One OpenMP thread a core while calls are timed. Left alone, the scheduler lets two of a process's threads share one core for
many calls, and the calls then take twice as long."""

import contextlib
import ctypes
import os

_LIBRARIES = ("libgomp", "libiomp", "libomp")
_Work = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def openmp_libraries() -> list[ctypes.CDLL]:
    """Those in this process; what torch.compile makes may bring another than PyTorch's own."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        paths = {line.split(maxsplit=5)[5].rstrip("\n") for line in maps if "/lib" in line}
    found = []
    for path in sorted(path for path in paths if os.path.basename(path).startswith(_LIBRARIES)):
        with contextlib.suppress(OSError):
            library = ctypes.CDLL(path)
            if hasattr(library, "GOMP_parallel") and hasattr(library, "omp_get_thread_num"):
                found.append(library)
    return found


def _each_thread(libraries: list[ctypes.CDLL], threads: int, cores_of) -> None:
    for library in libraries:
        def work(_, library=library):
            with contextlib.suppress(OSError):
                os.sched_setaffinity(0, cores_of(library.omp_get_thread_num()))

        library.GOMP_parallel(_Work(work), None, ctypes.c_uint(threads), ctypes.c_uint(0))


@contextlib.contextmanager
def one_thread_a_core(threads: int, libraries: list[ctypes.CDLL]):
    """Does nothing where there are not as many cores as threads."""
    cores = sorted(os.sched_getaffinity(0))
    if threads < 2 or len(cores) != threads:
        yield
        return
    try:
        _each_thread(libraries, threads, lambda number: {cores[number % len(cores)]})
        yield
    finally:
        _each_thread(libraries, threads, lambda number: set(cores))
