"""Background threads with limits on the number of waiting jobs and on their memory."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

import torch

T = TypeVar("T")


class Background(Generic[T]):
    """Threads that process jobs in the order of submission, without intra-op parallelism.

    Memory is reserved before a job is created, so that the limit includes the data of the job.

    :param work: processes one job. It must not raise.
    :param threads: number of concurrent jobs.
    :param places: maximum number of waiting jobs.
    :param memory: maximum bytes that waiting and running jobs hold together.
    """

    def __init__(
        self, work: Callable[[T], None], *, threads: int, places: int, memory: int
    ) -> None:
        self._work = work
        self._places = places
        self._memory = memory
        self._waiting: deque[tuple[T, int]] = deque()
        self._reserved = 0
        self._jobs = 0
        self._closed = False
        self._change = threading.Condition()
        self._threads = [
            threading.Thread(target=self._run, name=f"dl-optools-{at}", daemon=True)
            for at in range(threads)
        ]
        self._alone = threading.Barrier(threads + 1)
        usual = torch.get_num_threads()
        for thread in self._threads:
            thread.start()
        self._alone.wait()
        # Threads of the program that start later inherit this number.
        torch.set_num_threads(usual)

    def reserve(self, size: int, *, wait: bool) -> bool:
        """Reserve memory for one job.

        :param size: its bytes.
        :param wait: block until there is room.
        :returns: False if there is no room, or if the job alone exceeds the limit.
        """
        with self._change:
            if size > self._memory:
                return False
            while self._jobs >= self._places or self._reserved + size > self._memory:
                if not wait or self._closed:
                    return False
                self._change.wait()
            self._jobs += 1
            self._reserved += size
            return True

    def release(self, size: int) -> None:
        """Free a reservation for which no job was created."""
        with self._change:
            self._jobs -= 1
            self._reserved -= size
            self._change.notify_all()

    def submit(self, job: T, size: int) -> None:
        """Submit a job whose memory was reserved."""
        with self._change:
            self._waiting.append((job, size))
            self._change.notify_all()

    def idle(self) -> bool:
        """Return True if no job waits or runs."""
        return self._jobs == 0

    def drain(self) -> None:
        """Wait until all submitted jobs are done."""
        with self._change:
            while self._waiting or self._running:
                self._change.wait()

    def close(self) -> None:
        """Process the waiting jobs, then end the threads."""
        with self._change:
            self._closed = True
            self._change.notify_all()
        for thread in self._threads:
            thread.join()

    _running = 0

    def _compute_alone(self) -> None:
        """Use no OpenMP threads from this thread.

        If the OpenMP teams of all threads together have more members than there are processors, the
        OpenMP runtime stops spinning: each operator then waits for its team to be woken.
        """
        # Read the number of threads first: a thread inherits the program's setting at the first
        # read, which would otherwise replace the setting below.
        torch.get_num_threads()
        torch.set_num_threads(1)
        self._alone.wait()

    def _run(self) -> None:
        self._compute_alone()
        while True:
            with self._change:
                while not self._waiting and not self._closed:
                    self._change.wait()
                if not self._waiting:
                    return
                job, size = self._waiting.popleft()
                self._running += 1
            try:
                self._work(job)
            finally:
                del job
                with self._change:
                    self._running -= 1
                    self._jobs -= 1
                    self._reserved -= size
                    self._change.notify_all()
