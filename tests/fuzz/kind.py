"""One kind of input: how a case is made and done, and when it is too slow."""

from __future__ import annotations

import random
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
