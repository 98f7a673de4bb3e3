"""Mistakes in the table, each with where it is and what may have been meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Mistake:
    """What is wrong, and where: file, entry and key, each empty where there is none."""

    file: str
    entry: str
    key: str
    message: str

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.file, self.entry, self.key, self.message)))


class TableError(Exception):
    """All mistakes of a table, one a line."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("\n".join(map(str, self.mistakes)))


class EntryError(ValueError):
    """What is wrong with an entry, before it is known which; ``key`` is where in it."""

    def __init__(self, message: str, key: str = "") -> None:
        super().__init__(message)
        self.key = key


@contextmanager
def at_key(key: str) -> Iterator[None]:
    """Say that mistakes found within belong to ``key`` of an entry."""
    try:
        yield
    except EntryError as error:
        raise EntryError(str(error), key) from None


def unknown(word: object, what: str, known: Iterable[str]) -> EntryError:
    """A word that is none of ``known``, with the nearest of them."""
    near = difflib.get_close_matches(str(word), tuple(known), n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return EntryError(f"{word!r} is no {what}{hint}")
