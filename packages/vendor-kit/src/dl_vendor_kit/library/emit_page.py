"""The reference page: the operators that a library serves, with their calls."""

from __future__ import annotations

from itertools import groupby

from .checked import Checked, CheckedCase
from .helpers import VIEWS, Helper
from .text import NOTICE


def page(checked: Checked) -> str:
    """Return the page in Markdown."""
    library = checked.library
    calls = {
        call.function.name
        for entry in checked.entries
        for case in entry.cases
        for call in case.calls
        if call.function is not None
    }
    sections = "\n".join(
        f"## {family}\n\n| operator | calls |\n| --- | --- |\n"
        + "\n".join(
            f"| {entry.operator.name} | {'<br>'.join(map(_case, entry.cases))} |" for entry in group
        )
        + "\n"
        for family, group in groupby(checked.entries, key=lambda entry: entry.entry.family)
    )
    used = {name: helper for name, helper in library.helpers.items() if helper.doc}
    helpers = "\n".join(
        f"| `{_signature(n, h)}` | {_cell(h.doc)} |" for n, h in sorted(used.items())
    )
    return f"""<!-- {NOTICE} -->

# Operators by {library.name}

{len(checked.entries)} operators of the contract are served by {len(calls)} functions of
{library.name}. The host computes all other operators, and the calls that all cases of an operator
decline.

{sections}
## Views and helpers

| call | result |
| --- | --- |
{helpers}
"""


def _case(case: CheckedCase) -> str:
    given = case.case
    parts = []
    if given.when is not None:
        parts.append(f"if `{_cell(given.when.text)}`:")
    if given.function:
        parts.append(f"`{given.function}` (C++)")
    parts += [f"`{_cell(text.text)}`" for text in given.calls]
    return " ".join(parts)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _signature(name: str, helper: Helper) -> str:
    mark = "" if name in VIEWS else "@"
    return f"{mark}{name}({', '.join(helper.takes)}) → {helper.returns}"
