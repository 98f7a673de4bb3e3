"""Explanation of an empty selection: the options responsible, and likely intended names."""

from __future__ import annotations

from dataclasses import replace
from shlex import quote

from .expression import parse
from .near import format_suggestions, near_words
from .selection import Selection, SelectionError


def chosen_names(selection: Selection) -> list[str]:
    """Return the names of the selected checks and cases; there is at least one.

    :raises SelectionError: nothing is selected, or an option is malformed.
    :raises CaseFileError: a file is invalid.
    """
    names = [*selection.checks(), *(case.name for case in selection.cases())]
    if not names:
        raise SelectionError(why_empty(selection))
    return names


def why_empty(selection: Selection) -> str:
    """Describe the options of an empty selection, and those that alone choose no case."""
    given = selection.options()
    if len(given) == 1:
        ((field, option),) = given.items()
        return f"{option} chooses no case{_perhaps(selection, field)}"
    *most, last = given.values()
    said = f"{', '.join(most)} and {last} choose no case"
    alone = [field for field in given if _is_empty(_only(selection, field))]
    if not alone:
        return f"{said} together; each of them alone chooses some"
    return "; ".join(
        [said, *(f"{given[x]} alone chooses none{_perhaps(selection, x)}" for x in alone)]
    )


def _only(selection: Selection, field: str) -> Selection:
    """Return the selection with only one of its options."""
    kept = (field, "seed") if field == "parts" else (field,)
    alone = {name: getattr(selection, name) for name in kept}
    return replace(Selection(files=selection.files), **alone)


def _is_empty(selection: Selection) -> bool:
    return not selection.checks() and next(selection.cases(), None) is None


def _perhaps(selection: Selection, field: str) -> str:
    """Name the words of ``-k`` that no name contains, or a failed case that no longer exists."""
    if field == "failed":
        gone = min(selection.failed or ())
        return f": {quote(gone)} is not a case of the suite; cases of files need --cases"
    if field != "expression":
        return ""
    absent = near_words(parse(selection.expression).words)
    said = [f"{word!r} is in no name{format_suggestions(near)}" for word, near in absent.items()]
    return f": {'; '.join(said)}" if said else ""
