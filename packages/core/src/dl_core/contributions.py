"""What a plugin adds to one of the tools: a name, a line of help, and a function that loads it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")


@dataclass(frozen=True)
class Contribution:
    """One thing that a plugin adds. The hook that returns it says what ``load`` returns."""

    name: str
    """What the user types to choose it: a small letter, then small letters, digits, ``-`` and
    ``_``, at most 64 in all. No two plugins have the same one in one hook."""
    help: str
    """One line for lists."""
    load: Callable[[], Any]
    """Called when it is used, at most once per process. Heavy imports belong in here."""


def checked_contributions(hook: str, answer: object) -> list[Contribution]:
    """What a hook returned, if it may.

    :raises ValueError: it is something else; the message names the hook and what it returned.
    """
    if not isinstance(answer, Sequence) or isinstance(answer, str):
        raise ValueError(f"{hook} returned {answer!r}, which is not a sequence of Contribution")
    names: set[str] = set()
    for one in answer:
        if not isinstance(one, Contribution):
            raise ValueError(f"{hook} returned {one!r}, which is not a Contribution")
        if not isinstance(one.name, str) or not _NAME.fullmatch(one.name):
            raise ValueError(f"{hook} returned the name {one.name!r}; choose one like 'my-name'")
        if one.name in names:
            raise ValueError(f"{hook} returned the name {one.name!r} twice")
        if not callable(one.load):
            raise ValueError(f"{hook} returned {one.name!r} with a load that cannot be called")
        names.add(one.name)
    return list(answer)
