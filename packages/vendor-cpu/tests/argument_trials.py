"""Run calls of every operator with one invalid number, in a worker: a crash or a hang is an outcome
too.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from calls import Call, calls_of
from diopi_proto import ArgumentError, OperatorError, load_vendor
from diopi_proto.errors import OutOfMemoryError
from diopi_proto.worker import Worker, WorkerError
from diopi_proto.worker.limits import lower_limit
from support import guard

NUMBERS = (-7, -(1 << 31), (1 << 31) - 1, 1 << 31, 1 << 62, -(1 << 63), (1 << 63) - 1)
SECONDS = 5
"""Timeout of a small call, in seconds."""
MEMORY = 4 << 30
"""Bytes of address space for the calls, in addition to what is reserved before the first."""


@dataclass(frozen=True)
class Trial:
    """The outcome of a call.

    :ivar number: value of the parameter, or of one entry of its list; None for a list that is too
        long.
    :ivar outcome: ``taken``, ``refused``, ``declined`` by the host, or how the process ended.
    """

    operator: str
    parameter: str
    number: int | None
    outcome: str
    detail: str = ""


def with_wrong_numbers(call: Call) -> Iterator[tuple[str, int | None, Call]]:
    """Yield the parameter, its invalid value, and the call."""

    def changed(name: str, value: Any) -> Call:
        return replace(call, arguments={**call.arguments, name: value})

    for name, value in call.arguments.items():
        if "diopiScalar_t" in call.operator.parameter(name).type or isinstance(value, bool):
            continue  # any number is valid
        if isinstance(value, int):
            for number in NUMBERS:
                yield name, number, changed(name, number)
        elif isinstance(value, list) and value and all(isinstance(x, int) for x in value):
            for number in NUMBERS:
                yield name, number, changed(name, [*value[:-1], number])
            yield name, None, changed(name, [*value, *value, value[0]])


class Attempts:
    """Handler of requests: a call requests its outcome and the detail."""

    def __init__(self, library: str) -> None:
        self._vendor = load_vendor(library)
        guard(self._vendor)
        # An emulated GPU reserves all its address space on the first allocation.
        self._vendor.empty((1,), "float32")
        limit_memory()

    def __call__(self, call: Call) -> tuple[str, str]:
        try:
            call.results(self._vendor)
        except ArgumentError as error:
            return "declined", str(error)
        except (OperatorError, OutOfMemoryError) as error:
            return "refused", str(error)
        return "taken", ""


def limit_memory() -> None:
    """Limit the address space, so that allocations of a call fail before memory is exhausted."""
    if os.environ.get("DL_TEST_UNGUARDED") == "1":  # AddressSanitizer reserves address space
        return
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    lower_limit(resource.RLIMIT_AS, pages * resource.getpagesize() + MEMORY)


def trials(library: str, operators: tuple[str, ...]) -> Iterator[Trial]:
    """Yield the outcomes of all calls; if an operator ends the process, those before it."""
    with Worker(partial(Attempts, library)) as worker:
        for operator in operators:
            for name, number, call in with_wrong_numbers(calls_of(operator)[0]):
                try:
                    outcome, detail = worker.call(call, SECONDS)
                except WorkerError as error:
                    yield Trial(operator, name, number, str(error), error.output)
                    break
                yield Trial(operator, name, number, outcome, detail)
