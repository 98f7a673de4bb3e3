"""Checked descriptions of operators: the C++ code of each part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from diopi_proto.schema import Operator

from .located import Finding
from .model import Case, Entry, Library
from .signatures import Function


@dataclass(frozen=True, slots=True)
class CheckedCall:
    """One call: a function of the library with its arguments' code, or an action's code."""

    function: Function | None
    arguments: tuple[str, ...]
    condition: str | None


@dataclass(frozen=True, slots=True)
class CheckedCase:
    """The code of a case's parts.

    :ivar upcast: names of upcast parameters, with whether the calls write them.
    """

    case: Case
    when: str | None
    needs: tuple[str, ...]
    dtypes: Mapping[str, tuple[str, ...]]
    temporaries: tuple[tuple[str, str], ...]
    calls: tuple[CheckedCall, ...]
    each: str | None
    workspaces: Mapping[str, CheckedCall] = field(default_factory=dict)
    upcast: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CheckedEntry:
    """An operator, its parameters' kinds, and its cases."""

    operator: Operator
    entry: Entry
    kinds: Mapping[str, str | None]
    cases: tuple[CheckedCase, ...]


@dataclass(frozen=True)
class Checked:
    """The entries without errors, and the findings about all other entries."""

    library: Library
    entries: tuple[CheckedEntry, ...]
    findings: tuple[Finding, ...]
