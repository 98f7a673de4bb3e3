"""Words that cannot be names in C++."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def cpp_words() -> frozenset[str]:
    """Return the keywords of C++, and other words that cannot name a namespace."""
    text = (files("dl_vendor_kit") / "cpp_words.txt").read_text(encoding="utf-8")
    return frozenset(text.split())
