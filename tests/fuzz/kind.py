"""One kind of input: how a case is made and done, and when it is too slow."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Case = Callable[[random.Random], str]
"""Makes input from the numbers, does what a host does with it, and says how that ended. Errors that
a host documents are an end; all others are a failure, and so is a :class:`WrongError`."""

CANARY = "FUZZ_CANARY"
"""The variable that names a file which exists when code has run that must not."""


class WrongError(Exception):
    """What was done is wrong, although nothing was raised."""


_MISLEADING = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Controls, ends of lines, marks that turn the direction of writing, halves of characters."""


def check_shown(text: str, longest: int = 20_000) -> None:
    """:raises WrongError: a terminal, or who reads it, could be led astray."""
    if _MISLEADING.search(text) or len(text) > longest:
        raise WrongError(f"{text[:200]!r} ({len(text)} characters) cannot be shown")


@dataclass(frozen=True)
class Kind:
    """A kind of input.

    :ivar cases: in a full run.
    :ivar begin: called once in each child, with the kind's folder and one of the child's own.
    :ivar prepare: called once, in a process of its own: fills the kind's folder.
    :ivar seconds: after which one case has hung.
    :ivar batch: cases to a child.
    """

    name: str
    cases: int
    begin: Callable[[Path, Path], Case]
    prepare: Callable[[Path], object] = lambda folder: None
    seconds: float = 30
    batch: int = 250
