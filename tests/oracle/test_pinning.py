"""One OpenMP thread a core while calls are timed, and as before afterwards."""

import contextlib
import os
import threading

import pytest
import torch
from kw_oracle import pinning


def cores_of_tasks() -> dict[int, set[int]]:
    cores = {}
    for task in map(int, os.listdir("/proc/self/task")):
        with contextlib.suppress(ProcessLookupError):  # it ended meanwhile
            cores[task] = os.sched_getaffinity(task)
    return cores


@pytest.fixture
def two_cores():
    before = os.sched_getaffinity(0)
    if len(before) < 2:
        pytest.skip("needs two cores")
    threads = torch.get_num_threads()
    os.sched_setaffinity(0, sorted(before)[:2])
    torch.set_num_threads(2)
    yield sorted(before)[:2]
    os.sched_setaffinity(0, before)
    torch.set_num_threads(threads)


def in_a_thread(work):
    """A team of its own, so that threads of earlier tests do not matter."""
    results = []
    thread = threading.Thread(target=lambda: results.append(work()))
    thread.start()
    thread.join()
    return results[0]


def test_each_thread_has_a_core_of_its_own_while_timing(two_cores):
    def work():
        torch.ones(1 << 20).add_(1)
        with pinning.one_thread_a_core(2, pinning.openmp_libraries()):
            pinned = [cores for cores in cores_of_tasks().values() if len(cores) == 1]
        return pinned, os.sched_getaffinity(0)

    pinned, afterwards = in_a_thread(work)
    assert sorted(min(cores) for cores in pinned) == two_cores
    assert afterwards == set(two_cores)
    assert not [cores for cores in cores_of_tasks().values() if len(cores) == 1]


@pytest.mark.parametrize("threads", [1, 3])
def test_nothing_is_pinned_without_a_core_for_each_thread(two_cores, threads):
    with pinning.one_thread_a_core(threads, pinning.openmp_libraries()):
        assert not [cores for cores in cores_of_tasks().values() if len(cores) == 1]


def test_cores_are_given_back_after_a_failure(two_cores):
    with pytest.raises(ValueError):
        with pinning.one_thread_a_core(2, pinning.openmp_libraries()):
            raise ValueError
    assert os.sched_getaffinity(0) == set(two_cores)
