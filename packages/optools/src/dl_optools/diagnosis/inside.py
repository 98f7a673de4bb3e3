"""Operators that call other operators internally, such as a dropout that calls a multiplication.

A wrong multiplication makes the dropout wrong, too: then the multiplication is to blame.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

PREFIX = "aten::"


def run_and_record(run: Callable[[], Any]) -> tuple[Any, set[str]]:
    """Run a call, and return its result with the names of the operators that it called.

    The names are empty while the program is profiled: a process has one profiler.
    """
    from torch._C._autograd import _profiler_enabled
    from torch.autograd.profiler import profile

    if _profiler_enabled():
        return run(), set()
    with profile(use_cpu=True) as profiler:
        result = run()
    names = {each.name for each in profiler.function_events}
    return result, {name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX)}


def base(name: str) -> str:
    """Return ``mul`` for ``aten._foreach_mul_.Scalar`` and for ``mul_``."""
    own = name.split(".")[1] if name.startswith("aten.") else name
    own = own.removeprefix("_foreach_")
    return own if own.startswith("__") else own.removesuffix("_")


def causes(wrong: Sequence[str], inside: Mapping[str, Set[str]]) -> dict[str, str]:
    """Return the wrong operators that call another wrong operator, each with the called operator.

    :param wrong: names of operators that were found to be wrong.
    :param inside: names of the operators that each operator calls.
    """
    parts = {name: {base(x) for x in inside.get(name, ())} - {base(name)} for name in wrong}
    found = {}
    for name in wrong:
        cause = next(
            (x for x in wrong if base(x) in parts[name] and base(name) not in parts[x]), None
        )
        if cause is not None:
            found[name] = cause
    return found
