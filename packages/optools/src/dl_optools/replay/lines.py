"""Lines about single runs and comparisons, in the words of ditorch's ``run_op_from_data``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest

from dl_optools.replay.check import CheckResult
from dl_optools.replay.run import Times

_PART = re.compile(r"(output|gradient of input) (\d+)(.*)")


def run_lines(operator: str, times: Times) -> Iterator[str]:
    """Yield the durations of each run, forward and backward; "elasped" is the original's word."""
    for forward, backward in zip_longest(times.forward, times.backward):
        yield f"SyncExecuteTimer: {operator} forward  elasped {forward * 1e3:.8f} ms"
        if backward is not None:
            yield f"SyncExecuteTimer: {operator} backward elasped {backward * 1e3:.8f} ms"


def check_lines(operator: str, outcome: CheckResult) -> Iterator[str]:
    """Yield the verdict on each result and gradient."""
    outputs = sum(part.name.startswith("output") for part in outcome.parts)
    for part in outcome.parts:
        yield comparison_line(operator, part.name, part.ok, part.max_abs, outputs > 1)


def comparison_line(operator: str, part: str, ok: bool, max_abs: float, several: bool) -> str:
    """Return the verdict on one result, named ``output 0`` or ``gradient of input 1``.

    :param several: the operator has several results.
    """
    found = _PART.fullmatch(part)
    label = part
    if found is not None and found[1] == "output":
        label = f"{found[2]}th{found[3]}" if several else ""
    elif found is not None:
        label = f"{found[2]}th input grad{found[3]}"
    name = f"{operator} {label}".rstrip()
    # Nothing to compare, or an exact result: no difference was found.
    difference = 0.0 if max_abs != max_abs and ok else max_abs
    return f"OpAutoCompareHook: {name:<60} allclose: {ok!s:<8} max_diff: {difference:>20.9f}"
