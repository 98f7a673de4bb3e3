"""Two ranks in processes of their own, which run the programs of this folder in turn."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import tempfile
import traceback
from collections.abc import Mapping
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

RANKS = 2
SECONDS = 60
"""A program that takes longer hangs."""
GROUP_TIMEOUT_SECONDS = 30


class RankError(AssertionError):
    """A program failed on a rank; the message is its traceback there."""


class Ranks:
    """A process for each rank of one group, started once: importing torch takes seconds.

    :param backend: what ``init_process_group`` is given; None gives it nothing.
    :param variables: environment variables of the processes; ``{rank}`` in one is the number.
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
        context = multiprocessing.get_context("spawn")
        store = Path(self._folder.name) / f"store-{self._started}"
        self._started += 1
        self._pipes: list[Connection] = []
        self.processes = []
        before = dict(os.environ)
        try:
            for rank in range(self._count):
                mine = {name: text.format(rank=rank) for name, text in self._variables.items()}
                os.environ.update(mine)
                ours, theirs = context.Pipe()
                process = context.Process(
                    target=_serve,
                    args=(theirs, rank, self._count, str(store), self._backend),
                    daemon=True,
                )
                process.start()
                theirs.close()
                self._pipes.append(ours)
                self.processes.append(process)
        finally:
            os.environ.clear()
            os.environ.update(before)

    def run(self, program: str, **arguments: Any) -> list[Any]:
        """Call ``module.function`` of this folder on every rank; returns what each has returned.

        :raises RankError: it has failed on a rank, ended it, or not come back. The ranks are
            restarted then.
        """
        for pipe in self._pipes:
            pipe.send((program, arguments))
        answers = [self._answer(rank) for rank in range(self._count)]
        failures = [f"rank {r}: {said}" for r, (good, said) in enumerate(answers) if not good]
        if failures:
            self.stop()
            self._start()
            raise RankError("\n".join(failures))
        return [said for _, said in answers]

    def _answer(self, rank: int) -> tuple[bool, Any]:
        try:
            if not self._pipes[rank].poll(SECONDS):
                return False, f"no answer within {SECONDS} s"
            answer: tuple[bool, Any] = self._pipes[rank].recv()
        except (EOFError, ConnectionError):
            self.processes[rank].join(SECONDS)
            return False, f"ended with {self.processes[rank].exitcode}"
        return answer

    def stop(self) -> None:
        """End the processes."""
        for pipe in self._pipes:
            pipe.close()
        for process in self.processes:
            process.kill()
            process.join(SECONDS)

    def close(self) -> None:
        """As :meth:`stop`, for good."""
        self.stop()
        self._folder.cleanup()


def _serve(pipe: Connection, rank: int, count: int, store: str, backend: str | None) -> None:
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
    while True:
        try:
            program, arguments = pipe.recv()
        except EOFError:
            break
        try:
            pipe.send((True, _call(program, arguments)))
        except BaseException:  # noqa: BLE001 - the other process reports it
            pipe.send((False, traceback.format_exc()))
    os._exit(0)


def _call(program: str, arguments: Mapping[str, Any]) -> Any:
    module, _, function = program.partition(".")
    package = __package__ or "distributed"
    return getattr(importlib.import_module(f"{package}.{module}"), function)(**arguments)
