"""Run calls of every operator with one invalid number, in a child process: a crash or a hang is an
outcome too.

python argument_trials.py LIBRARY [OPERATOR...]

Prints a line of JSON with the call before it, and one with its outcome after it.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from calls import Call, calls_of
from diopi_proto import ArgumentError, OperatorError, Vendor, load_vendor
from diopi_proto.errors import OutOfMemoryError
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
    :ivar outcome: ``taken``, ``refused``, ``declined`` by the host, or what killed the process.
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


def attempt(vendor: Vendor, call: Call) -> tuple[str, str]:
    try:
        call.results(vendor)
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
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def run_trials(library: str, operators: list[str]) -> None:
    with load_vendor(library) as vendor:
        guard(vendor)
        # An emulated GPU reserves all its address space on the first allocation.
        vendor.empty((1,), "float32")
        limit_memory()
        for operator in operators:
            for name, number, call in with_wrong_numbers(calls_of(operator)[0]):
                print(json.dumps([operator, name, number]), flush=True)
                signal.alarm(SECONDS)
                print(json.dumps(attempt(vendor, call)), flush=True)
                signal.alarm(0)


def trials(library: str, operators: tuple[str, ...]) -> Iterator[Trial]:
    """Yield the outcomes of all calls; if an operator kills the process, those before it."""
    left = list(operators)
    while left:
        command = [sys.executable, __file__, library, *left]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        for (operator, parameter, number), result in zip(lines[::2], lines[1::2], strict=False):
            yield Trial(operator, parameter, number, result[0], result[1])
        if done.returncode == 0:
            return
        if len(lines) % 2 == 0:
            raise RuntimeError(f"{' '.join(command[:3])} ended with status {done.returncode}")
        killed = signal.Signals(-done.returncode).name if done.returncode < 0 else "an error"
        operator, parameter, number = lines[-1]
        yield Trial(operator, parameter, number, f"killed by {killed}")
        left = left[left.index(operator) + 1 :]


if __name__ == "__main__":
    run_trials(sys.argv[1], sys.argv[2:])
