"""Calls of every operator with one number that is wrong, in a process of its own: a call that kills
it, or never ends, is an outcome too.

    python argument_trials.py LIBRARY [OPERATOR...]

A line of JSON before each call names it, one after it says what came of it.
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
"""In which a small call is over."""
MEMORY = 4 << 30
"""Bytes of address space that calls have, beside what is reserved before the first."""


@dataclass(frozen=True)
class Trial:
    """What came of a call.

    :ivar number: what stood in the parameter, or in one entry of its list; None for a list that is
        too long.
    :ivar outcome: ``taken``, ``refused``, ``declined`` by the host, or what killed the process.
    """

    operator: str
    parameter: str
    number: int | None
    outcome: str
    detail: str = ""


def with_wrong_numbers(call: Call) -> Iterator[tuple[str, int | None, Call]]:
    """Parameter, what is wrong in it, and the call."""

    def changed(name: str, value: Any) -> Call:
        return replace(call, arguments={**call.arguments, name: value})

    for name, value in call.arguments.items():
        if "diopiScalar_t" in call.operator.parameter(name).type or isinstance(value, bool):
            continue  # any number is one
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
    """Let what calls allocate fail, before it is more than the machine has."""
    if os.environ.get("DL_TEST_UNGUARDED") == "1":  # AddressSanitizer reserves all there is
        return
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def run_trials(library: str, operators: list[str]) -> None:
    with load_vendor(library) as vendor:
        guard(vendor)
        # An emulated GPU reserves the addresses of all that it will ever have.
        vendor.empty((1,), "float32")
        limit_memory()
        for operator in operators:
            for name, number, call in with_wrong_numbers(calls_of(operator)[0]):
                print(json.dumps([operator, name, number]), flush=True)
                signal.alarm(SECONDS)
                print(json.dumps(attempt(vendor, call)), flush=True)
                signal.alarm(0)


def trials(library: str, operators: tuple[str, ...]) -> Iterator[Trial]:
    """What came of all calls; of an operator that killed the process, those before."""
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
