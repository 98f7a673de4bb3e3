"""Background jobs: none is lost, and limits are kept."""

from __future__ import annotations

import threading

import torch

from dl_optools.compare.background import Background


def test_all_jobs_are_done_before_it_closes() -> None:
    done: list[int] = []
    background = Background(done.append, threads=2, places=3, memory=100)
    for job in range(50):
        assert background.reserve(10, wait=True)
        background.submit(job, 10)
    background.close()
    assert sorted(done) == list(range(50))


def test_places_and_memory_are_limits() -> None:
    go, started = threading.Event(), threading.Event()

    def work(job: int) -> None:
        started.set()
        go.wait()

    background = Background(work, threads=1, places=3, memory=100)
    assert background.reserve(40, wait=False)
    background.submit(0, 40)
    started.wait()
    assert not background.reserve(70, wait=False)
    assert background.reserve(20, wait=False) and background.reserve(20, wait=False)
    assert not background.reserve(1, wait=False)
    background.release(20)
    assert background.reserve(1, wait=False)
    background.release(1)
    background.release(20)
    go.set()
    background.drain()
    assert background.reserve(100, wait=False)
    background.release(100)
    background.close()


def test_jobs_above_the_limit_are_refused_at_once() -> None:
    background: Background[int] = Background(lambda job: None, threads=1, places=1, memory=10)
    assert not background.reserve(11, wait=True)
    background.close()


def test_a_waiting_caller_goes_on_when_there_is_room() -> None:
    go = threading.Event()
    background: Background[int] = Background(lambda job: go.wait(), threads=1, places=1, memory=10)
    assert background.reserve(10, wait=True)
    background.submit(0, 10)
    threading.Timer(0.01, go.set).start()
    assert background.reserve(10, wait=True)
    background.release(10)
    background.close()


def test_jobs_compute_on_one_processor_and_the_program_on_as_many_as_before() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        counts: list[int] = []
        background: Background[int] = Background(
            lambda job: counts.append(torch.get_num_threads()), threads=2, places=4, memory=100
        )
        for _ in range(4):
            assert background.reserve(1, wait=True)
            background.submit(0, 1)
        background.close()
        later: list[int] = []
        thread = threading.Thread(target=lambda: later.append(torch.get_num_threads()))
        thread.start()
        thread.join()
        assert (counts, torch.get_num_threads(), later) == ([1, 1, 1, 1], 3, [3])
    finally:
        torch.set_num_threads(before)
