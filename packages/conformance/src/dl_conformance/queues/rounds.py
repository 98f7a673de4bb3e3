"""Repetition of a check until its queue was busy at the decisive moment."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from diopi_proto.worker import note
from dl_conformance.checks.check import SkipError

from .bench import Bench

ROUNDS = 3
"""Number of rounds in which the queue has to be busy."""
LONG = 8
"""Level of long work from which on a round counts without its control: a device that does one thing
after another never passes it."""


def repeat_while_busy(
    bench: Bench, once: Callable[[], bool], control: Callable[[], bool] | None = None
) -> None:
    """Repeat a round, with longer work each time that the queue was finished too early.

    A synchronous vendor, whose queues are never busy, is judged by one round. The length of the
    work, not the time that it takes, decides when to give up.

    :param once: one round; returns True if the queue was provably busy when it mattered, and raises
        if it finds a fault.
    :param control: returns True if work that does not wait for the queue, like that of a faulty
        slot, is finished before the long work is. It may be too late on a loaded machine, where a
        round proves nothing. None: a download on a free stream.
    :raises SkipError: the queue was never busy, so that the rounds prove nothing.
    """
    if control is None and not bench.synchronous:
        control = partial(bench.outlasts, bench.stream(), partial(bench.probe, bench.block()))

    proven = 0
    while proven < ROUNDS:
        # Each round renews the deadline of the worker.
        note("round")
        if once() and (control is None or bench.level >= LONG or control()):
            proven += 1
        elif bench.synchronous:
            return
        elif not bench.lengthen():
            break
    if not proven:
        raise SkipError(
            "inconclusive: the longest work never kept a stream busy, although the vendor does not "
            "claim DL_CAP_SYNCHRONOUS"
        )
