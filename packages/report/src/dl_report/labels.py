"""Text of foreign origin in pages: visible characters, line breaks and distinct short labels."""

from __future__ import annotations

import re
from collections.abc import Sequence

from markupsafe import Markup, escape

_BREAKS = re.compile(r"(::|[._/,(]+)(?=[^\W\d])")
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


def visible(text: str) -> str:
    r"""Return text in which invisible characters are escapes, such as ``\u202e``.

    These are control characters other than line ends and tabs, bidirectional marks, which would
    reorder the text around them, and lone surrogates, which UTF-8 cannot encode.
    """
    return _INVISIBLE.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def breakable(text: object) -> Markup:
    """Return HTML of the text that wraps at separators, not within names."""
    return Markup(_BREAKS.sub(r"\1<wbr>", str(escape(text))))


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
