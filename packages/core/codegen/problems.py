"""Errors in the table, each with its location and a suggestion."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Mistake:
    """An error message and its location: file, entry and key, each of which may be empty."""

    file: str
    entry: str
    key: str
    message: str

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.file, self.entry, self.key, self.message)))


class TableError(Exception):
    """All errors of a table, one per line."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("\n".join(map(str, self.mistakes)))


class EntryError(ValueError):
    """An error in an entry whose name is not known yet; ``key`` is the location within
    the entry."""

    def __init__(self, message: str, key: str = "") -> None:
        super().__init__(message)
        self.key = key


@contextmanager
def at_key(key: str) -> Iterator[None]:
    """Attribute errors in the block to ``key`` of an entry."""
    try:
        yield
    except EntryError as error:
        raise EntryError(str(error), key) from None


def unknown(word: object, what: str, known: Iterable[str]) -> EntryError:
    """Return the error for a word that is not one of ``known``, with the closest match."""
    near = difflib.get_close_matches(str(word), tuple(known), n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return EntryError(f"{word!r} is not a known {what}{hint}")
