"""Warnings about variables that look like a tool's, but that no tool reads."""

from __future__ import annotations

import warnings

from dl_optools.environment import environment
from dl_optools.launching.variables import TOOLS, describe_unread
from dl_optools.names import Level, short_name
from dl_optools.operators import operator_names

_reported: set[str] = set()


def warn_unread(tool: str) -> None:
    """Warn once about each variable that is probably a misspelled variable of a tool.

    :param tool: name of the starting tool in its variables; those of plugins are unknown otherwise.
    """
    given = environment()
    if tool not in TOOLS:
        given = {name: given[name] for name in given if not name.startswith(f"OP_{tool}_")}
    for sentence in describe_unread(given, _operators):
        if sentence not in _reported:
            _reported.add(sentence)
            warnings.warn(f"[dl_optools] {sentence}", RuntimeWarning, stacklevel=4)


def _operators() -> set[str]:
    return {short_name(name) for level in Level for name in operator_names(level)}
