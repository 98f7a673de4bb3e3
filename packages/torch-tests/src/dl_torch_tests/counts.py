"""Counts of OpInfo results, which the end of pytest's output shows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest


@dataclass
class Counts:
    """Counts of a run.

    :ivar results: number of all and of right results, under keys such as "forward float32 on cpu".
    :ivar native: by vendor and base operator, for each of its entries: True if it ran without a
        fallback.
    """

    results: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    native: dict[str, dict[str, list[bool]]] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the summary."""
        for what, counts in sorted(self.results.items()):
            samples = f", {counts['samples']} samples" if counts["samples"] else ""
            yield f"OpInfo {what}: {counts['right']} of {counts['all']} right{samples}"
        for vendor, operators in sorted(self.native.items()):
            entries = [entry for base in operators.values() for entry in base]
            yield (
                f"OpInfo forward float32 without fallback on {vendor}: {sum(entries)} of "
                f"{len(entries)} entries, {sum(map(any, operators.values()))} of {len(operators)} "
                f"base operators ({sum(map(all, operators.values()))} with all of their entries)"
            )


COUNTS = pytest.StashKey[Counts]()
