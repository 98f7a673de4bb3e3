"""Conformance cases that the session runs, drawn by a seed."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable

from diopi_proto.schema import load
from dl_conformance.checks.check import checks
from dl_conformance.selection import Selection

from .errors import SessionError


def candidates(families: Collection[str] | None) -> list[str]:
    """Return the names of all cases of some families of operators, None: of all.

    Calls of models are left out: their shapes are those of real models, and one convolution takes
    minutes by emulation.
    """
    known = {each.family for each in load().values()}
    if unknown := sorted(set(families or ()) - known):
        raise SessionError(
            f"[aarch64] --families {unknown[0]}: the contract has no such family; a family is the "
            "name of a file in packages/diopi-proto/schema"
        )
    operators = [x for x, each in load().items() if families is None or each.family in families]
    return [case.name for case in Selection(operators=operators).cases() if not case.models]


def draw(names: Iterable[str], count: int, seed: str) -> list[str]:
    """Return ``count`` of the names, or all if there are fewer, chosen by a seed."""
    order = sorted(names, key=lambda x: hashlib.blake2b(f"{seed} {x}".encode()).digest())
    return sorted(order[:count])


def runtime_checks() -> list[str]:
    """Return the names of the checks of a vendor's memory, streams and errors."""
    return list(checks())
