"""Operators that other wheels add to a vendor's devices: sentences about them. Imports no torch.

The hook ``dl_operators`` returns them, and :mod:`diopi_proto.added` calls their libraries.
"""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from diopi_proto.text import printable

if TYPE_CHECKING:
    from diopi_proto.added import AddedLibrary
    from diopi_proto.descriptor import AddedOperators
    from dl_core.manager import PluginManager
    from dl_core.plugin_record import PluginRecord

_MOST_NAMES = 5
"""Maximum number of operators in a sentence; ``dl doctor --json`` has all names."""


class Addition(NamedTuple):
    """A library with added operators, and the plugin that declares it."""

    record: PluginRecord
    added: AddedOperators

    @property
    def label(self) -> str:
        """Return the name in messages: ``"fast of dl-fast 1.0"``."""
        return f"{self.added.name} of {self.record.wheel}"

    @property
    def library(self) -> AddedLibrary:
        """Return the library for hosts."""
        from diopi_proto.added import AddedLibrary  # imports cffi

        return AddedLibrary(self.added.name, str(self.added.library), self.label)

    def describe_omission(self, reason: str, cure: str = "", *, which: str = "operators") -> str:
        """Return the sentence that a library, or some of its operators, are not used."""
        return (
            f"{which} {self.label} are not added to vendor {self.added.vendor!r}: "
            f"{printable(reason.rstrip('.'))}. {cure or self.record.reinstall}"
        )


def collect(manager: PluginManager, vendors: Iterable[str]) -> tuple[list[Addition], list[str]]:
    """Return the added operators of all plugins for these vendors, in the order in which they are
    called, and sentences about those for other vendors. Loads no library."""
    known = frozenset(vendors)
    found, problems = [], []
    for record, added in manager.added_operators():
        addition = Addition(record, added)
        if added.vendor in known:
            found.append(addition)
        else:
            problems.append(
                addition.describe_omission(
                    "no plugin provides that vendor here",
                    f"Install it: `pip install dl-vendor-{added.vendor}`; "
                    f"DL_DISABLE={record.name} silences this.",
                )
            )
    return found, problems


def usable(manager: PluginManager, additions: Iterable[Addition]) -> list[Addition]:
    """Return those whose presence check does not exclude them on this machine."""
    return [each for each in additions if manager.present(each.record, each.added) is not False]


def describe_mismatched(addition: Addition, operators: Sequence[str]) -> str:
    """Return the sentence about operators that were built for other signatures."""
    return addition.describe_omission(
        f"its {_join(operators)} {_verb(operators, 'was', 'were')} built for another contract",
        f"Install releases of {addition.record.distribution} and dl-diopi-proto that belong "
        "together.",
        which="some operators",
    )


def describe_unknown(addition: Addition, operators: Sequence[str], known: Iterable[str]) -> str:
    """Return the sentence about operators that are not in this host's contract."""
    names = list(known)

    def close(name: str) -> str:
        match = difflib.get_close_matches(name, names, n=1, cutoff=0.9)
        return f"{name} (is it {match[0]}?)" if match else name

    return addition.describe_omission(
        f"{_join([close(name) for name in operators])} {_verb(operators, 'is', 'are')} not in this "
        "host's contract",
        f"Correct the name, or install a release of dl-diopi-proto that {addition.record.wheel} "
        "was built for.",
        which="some operators",
    )


def describe_ties(operators: Mapping[str, Sequence[Addition]]) -> list[str]:
    """Return sentences about operators that several libraries add with the same priority.

    :param operators: additions by the operator that they add, in the order of calls.
    """
    tied: dict[tuple[str, str], list[str]] = {}
    pairs: dict[tuple[str, str], tuple[Addition, Addition]] = {}
    for name, additions in operators.items():
        for first, second in itertools.pairwise(additions):
            if first.added.priority != second.added.priority:
                continue
            key = (first.label, second.label)
            tied.setdefault(key, []).append(name)
            pairs[key] = (first, second)
    return [
        f"operators {first.label} and {second.label} both add {_join(tied[key])} to vendor "
        f"{first.added.vendor!r} with priority {first.added.priority}: {first.added.name} is "
        f"called first, by name. DL_DISABLE={first.record.name} or "
        f"DL_DISABLE={second.record.name} leaves one out."
        for key, (first, second) in pairs.items()
    ]


def missing_file(addition: Addition) -> str:
    """Return the reason if the library's file does not exist; empty if it does."""
    library: Path = addition.added.library
    return "" if library.is_file() else f"its library {library} does not exist"


def _verb(names: Sequence[str], one: str, several: str) -> str:
    return one if len(names) == 1 else several


def _join(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
