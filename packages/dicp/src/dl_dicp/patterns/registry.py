"""Patterns by name: dl-dicp's own and those of plugins."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache

from dl_core.manager import PluginManager
from dl_dicp.patterns.attention import Attention
from dl_dicp.patterns.linear_bias import LinearBias
from dl_dicp.patterns.multiply_add import MultiplyAdd
from dl_dicp.patterns.pattern import Pattern
from dl_dicp.patterns.rms_norm import RmsNorm

OWN: tuple[Pattern, ...] = (
    Attention(),
    RmsNorm(),
    LinearBias(),
    MultiplyAdd(),
)
"""Patterns in the order in which they are tried: the longest sequences first."""


@cache
def all_patterns() -> dict[str, Pattern]:
    """Return all patterns of this process; warn about those that cannot be loaded."""
    found = {each.name: each for each in OWN}
    manager = PluginManager.of_environment()
    manager.load()
    for record, contribution in manager.contributions("dl_graph_patterns"):
        try:
            pattern: Pattern = contribution.load()
            if pattern.name in found:
                raise ValueError(f"another pattern has the name {pattern.name!r}")
            found[pattern.name] = pattern
        except Exception as error:  # noqa: BLE001 - models must run even if a plugin fails
            warnings.warn(
                f"[dl] the pattern {contribution.name} of {record.wheel} is ignored: {error}",
                RuntimeWarning,
                stacklevel=2,
            )
    return found


def chosen(option: bool | Sequence[str]) -> list[Pattern]:
    """Return the patterns that the option ``patterns`` selects; True: the default ones.

    :raises ValueError: a name is unknown.
    """
    if option is False:
        return []
    known = all_patterns()
    if option is True:
        return [each for each in known.values() if each.default]
    listed = isinstance(option, Sequence) and not isinstance(option, str)
    if not listed or any(name not in known for name in option):
        raise ValueError(
            f"[dl] the option patterns must be True, False or a list of names, not {option!r}; the "
            f"names are {', '.join(known)}"
        )
    return [known[name] for name in option]
