"""Operators of OpInfo whose float32 samples all run without a fallback, listed by vendor.

``opinfo_without_fallback.txt`` of the vendor's repository has one name per line; a vendor without
the file has no list. The lists are strict: a listed operator that falls back fails, and
so does an unlisted one that does not.
"""

from __future__ import annotations

import functools

from ..vendor_lists import VendorLists

NAME = "opinfo_without_fallback.txt"


@functools.cache
def listed(vendor: str, lists: VendorLists) -> frozenset[str]:
    """Return the OpInfo names, with variant, that run natively on a vendor; empty if it has no
    list."""
    path = lists.find(vendor, NAME)
    if path is None or not path.exists():
        return frozenset()
    lines = path.read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))
