"""Mistakes in the table, each with where it is and what may have been meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class TableError(Exception):
    """One mistake: file, entry, key and what is wrong."""

    def __init__(self, file: str, entry: str, key: str, message: str) -> None:
        super().__init__(": ".join(part for part in (file, entry, key, message) if part))


class TableErrors(Exception):
    """All mistakes of a table, one a line."""

    def __init__(self, errors: Iterable[TableError]) -> None:
        self.errors = tuple(errors)
        super().__init__("\n".join(map(str, self.errors)))


class Mistake(ValueError):
    """What is wrong, before it is known where."""

    def __init__(self, message: str, key: str = "") -> None:
        super().__init__(message)
        self.key = key


@contextmanager
def at_key(key: str) -> Iterator[None]:
    """Say that mistakes found within belong to ``key`` of an entry."""
    try:
        yield
    except Mistake as mistake:
        raise Mistake(str(mistake), key) from None


def unknown(word: object, what: str, known: Iterable[str]) -> Mistake:
    """A word that is none of ``known``, with the nearest of them."""
    near = difflib.get_close_matches(str(word), tuple(known), n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return Mistake(f"{word!r} is no {what}{hint}")
