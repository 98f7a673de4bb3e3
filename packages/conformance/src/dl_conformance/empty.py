"""Why a selection chooses nothing: which of its options does that, and what was perhaps meant."""

from __future__ import annotations

from dataclasses import replace
from shlex import quote

from .expression import parse
from .near import near_words, told
from .selection import Selection, SelectionError


def chosen_names(selection: Selection) -> list[str]:
    """The names of the checks and cases that are chosen, which are some.

    :raises SelectionError: there are none, or an option is malformed.
    :raises CaseFileError: a file has no cases.
    """
    names = [*selection.checks(), *(case.name for case in selection.cases())]
    if not names:
        raise SelectionError(why_empty(selection))
    return names


def why_empty(selection: Selection) -> str:
    """The options of a selection that chooses no case, and which of them alone chooses none."""
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
    """Without the other options that narrow it."""
    kept = (field, "seed") if field == "parts" else (field,)
    alone = {name: getattr(selection, name) for name in kept}
    return replace(Selection(files=selection.files), **alone)


def _is_empty(selection: Selection) -> bool:
    return not selection.checks() and next(selection.cases(), None) is None


def _perhaps(selection: Selection, field: str) -> str:
    """Of the words of ``-k``, those that are in no name; of what failed, a case that is gone."""
    if field == "failed":
        gone = min(selection.failed or ())
        return f": {quote(gone)} is no case of the suite; those of files need --cases"
    if field != "expression":
        return ""
    absent = near_words(parse(selection.expression).words)
    said = [f"{word!r} is in no name{told(near)}" for word, near in absent.items()]
    return f": {'; '.join(said)}" if said else ""
