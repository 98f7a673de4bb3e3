"""One kind of input: how a case is generated and run, and its timeout."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Case = Callable[[random.Random], str]
"""Generates input from random numbers, processes it as a host does, and returns the outcome.
Errors that a host documents are valid outcomes; all others are failures, and so is a
:class:`WrongError`."""

CANARY = "FUZZ_CANARY"
"""Environment variable: a file that exists if forbidden code has run."""


class WrongError(Exception):
    """The result is wrong, although nothing was raised."""


_MISLEADING = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters, line ends, bidirectional marks, surrogates."""


def check_shown(text: str, longest: int = 20_000) -> None:
    """Check that a text can be shown on a terminal.

    :raises WrongError: the text could mislead a terminal or its reader.
    """
    if _MISLEADING.search(text) or len(text) > longest:
        raise WrongError(f"{text[:200]!r} ({len(text)} characters) cannot be shown")


@dataclass(frozen=True)
class Kind:
    """A kind of input.

    :ivar cases: number of cases in a full run.
    :ivar begin: called once in each child, with the kind's folder and one of the child's own.
    :ivar prepare: called once, in a child process, to fill the kind's folder.
    :ivar seconds: timeout of one case.
    :ivar batch: cases per child.
    """

    name: str
    cases: int
    begin: Callable[[Path, Path], Case]
    prepare: Callable[[Path], object] = lambda folder: None
    seconds: float = 30
    batch: int = 250
