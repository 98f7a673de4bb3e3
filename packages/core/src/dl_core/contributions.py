"""Contributions of plugins to the tools: a name, a line of help, and a loader."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")


@dataclass(frozen=True)
class Contribution:
    """One contribution of a plugin. The hook that returns it documents the result of ``load``."""

    name: str
    """Name that the user types: a lower-case letter, then lower-case letters, digits, ``-`` and
    ``_``, at most 64 characters. Unique within a hook."""
    help: str
    """One line that describes it in lists."""
    load: Callable[[], Any]
    """Function that returns the contribution. Called at the first use, at most once per process.
    Heavy imports belong here."""


def validate_contributions(hook: str, answer: object) -> list[Contribution]:
    """Return the valid contributions of a hook.

    :raises ValueError: the result is invalid; the message names the hook and the result.
    """
    if not isinstance(answer, Sequence) or isinstance(answer, str):
        raise ValueError(f"{hook} returned {answer!r}, which is not a sequence of Contribution")
    names: set[str] = set()
    for one in answer:
        if not isinstance(one, Contribution):
            raise ValueError(f"{hook} returned {one!r}, which is not a Contribution")
        if not isinstance(one.name, str) or not _NAME.fullmatch(one.name):
            raise ValueError(f"{hook} returned the name {one.name!r}; use a name like 'my-name'")
        if one.name in names:
            raise ValueError(f"{hook} returned the name {one.name!r} twice")
        if not callable(one.load):
            raise ValueError(f"{hook} returned {one.name!r} with a `load` that is not callable")
        names.add(one.name)
    return list(answer)
