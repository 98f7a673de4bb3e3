"""Two ranks in separate processes, which run the programs of this folder one after the other."""

from __future__ import annotations

import importlib
import os
import tempfile
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from diopi_proto.worker import Worker, WorkerError

RANKS = 2
SECONDS = 60
"""Timeout in seconds, after which a program counts as hung."""
GROUP_TIMEOUT_SECONDS = 30


class RankError(AssertionError):
    """A program failed on a rank; the message is its traceback there."""


class Ranks:
    """A process for each rank of one group; it is reused, because importing torch takes seconds.

    :param backend: argument of ``init_process_group``; None: call it without one.
    :param variables: environment variables of the processes; ``{rank}`` in a value stands for the
    rank.
    """

    def __init__(
        self, backend: str | None = "cpu:gloo,dl:dicl", ranks: int = RANKS, **variables: str
    ) -> None:
        self._backend = backend
        self._variables = variables
        self._count = ranks
        self._folder = tempfile.TemporaryDirectory(prefix="dl-ranks-")
        self._started = 0
        self._start()

    def _start(self) -> None:
        store = Path(self._folder.name) / f"store-{self._started}"
        self._started += 1
        self._workers = [
            Worker(
                partial(_begin, rank, self._count, str(store), self._backend),
                env={
                    **os.environ,
                    **{name: text.format(rank=rank) for name, text in self._variables.items()},
                },
            )
            for rank in range(self._count)
        ]

    def run(self, program: str, **arguments: Any) -> list[Any]:
        """Call ``module.function`` of this folder on every rank, and return all results.

        :raises RankError: the function failed on a rank, ended it, or did not return. The ranks are
        then restarted.
        """
        with ThreadPoolExecutor(self._count) as pool:
            answers = list(pool.map(lambda x: _ask(x, program, arguments), self._workers))
        failures = [f"rank {r}: {said}" for r, (good, said) in enumerate(answers) if not good]
        if failures:
            self.stop()
            self._start()
            raise RankError("\n".join(failures))
        return [said for _, said in answers]

    def stop(self) -> None:
        """End the processes."""
        for worker in self._workers:
            worker.stop()

    def close(self) -> None:
        """End the processes permanently."""
        self.stop()
        self._folder.cleanup()


def _ask(worker: Worker, program: str, arguments: Mapping[str, Any]) -> tuple[bool, Any]:
    try:
        answer: tuple[bool, Any] = worker.call((program, arguments), SECONDS)
    except WorkerError as error:
        return False, str(error)
    return answer


def _begin(
    rank: int, count: int, store: str, backend: str | None
) -> Callable[[tuple[str, Mapping[str, Any]]], tuple[bool, Any]]:
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group(
        backend,
        store=dist.FileStore(store, count),
        rank=rank,
        world_size=count,
        timeout=timedelta(seconds=GROUP_TIMEOUT_SECONDS),
    )
    return _call


def _call(request: tuple[str, Mapping[str, Any]]) -> tuple[bool, Any]:
    program, arguments = request
    module, _, function = program.partition(".")
    package = __package__ or "distributed"
    try:
        called = getattr(importlib.import_module(f"{package}.{module}"), function)
        return True, called(**arguments)
    except BaseException:  # noqa: BLE001 - the other process reports it
        return False, traceback.format_exc()
