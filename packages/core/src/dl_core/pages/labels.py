"""Labels that fit: shortened but distinct, and names that wrap at their dots."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

_BREAKS = re.compile(r"(::|[._/,(]+)(?=[^\W\d])")


def shortened(labels: Sequence[str], most: int) -> list[str]:
    """Return labels of at most ``most`` characters; different labels stay different.

    The end is kept, because it distinguishes operators; where ends are equal, the beginning is kept
    as well, and remaining duplicates are numbered.
    """
    most = max(most, 8)
    found = {label: label for label in labels}
    for head in (0, most // 3, most // 2, most - 2):
        clashing = {label for label, short in found.items() if len(short) > most}
        shorts = list(found.values())
        clashing |= {
            label for label, short in found.items() if short != label and shorts.count(short) > 1
        }
        for label in clashing:
            tail = most - 1 - head
            found[label] = f"{label[:head]}…{label[-tail:]}"
    seen: dict[str, int] = {}
    for label, short in found.items():
        count = seen[short] = seen.get(short, 0) + 1
        if count > 1:
            number = f"…{count}"
            found[label] = short[: most - len(number)] + number
    return [found[label] for label in labels]


def breakable(text: str) -> str:
    """Return HTML of the text that wraps at separators, not within names."""
    return _BREAKS.sub(r"\1<wbr>", escape(text, quote=False))
