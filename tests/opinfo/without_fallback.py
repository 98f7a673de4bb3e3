"""Operators of OpInfo whose float32 samples all run without a fallback, listed by vendor.

One name a line in ``without_fallback_<vendor>.txt``; a vendor without a file has no list. The lists
are strict: an operator that begins to fall back fails, and so does one that has stopped to. They
are written by ``python -m opinfo.record``.
"""

from __future__ import annotations

import functools
from pathlib import Path


def path_of(vendor: str) -> Path:
    """Where the list of a vendor is."""
    return Path(__file__).with_name(f"without_fallback_{vendor}.txt")


@functools.cache
def listed(vendor: str) -> frozenset[str]:
    """OpInfo names, with variant, that run natively on a vendor; empty if it has no list."""
    path = path_of(vendor)
    if not path.exists():
        return frozenset()
    lines = path.read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))
