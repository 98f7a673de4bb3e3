"""Measured choices at dispatch: which of a vendor's implementations serves a call.

The look-up is the vendor's own (``dl/choices.h``). Here it is seen to that a table is there before
the first choice is made: ``import torch`` only looks whether there is any file of choices, the
first use of a device asks the vendor to be told of the first choice, and then the files are read.
Ranks of a job read them when they agree on one table (:mod:`.agreement`), and no more afterwards.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dl_core.manager import PluginManager
from dl_core.tuned_choices import Layers, found_layers, read_layers

if TYPE_CHECKING:
    from diopi_proto.choices import Choices

_log = logging.getLogger("dl_core.tuning")
_vendors: dict[str, int] = {}
"""Those that are loaded, with their index in the compiled part."""
_layers: list[tuple[str, Path]] = []
_wanted = True
_requested = False
_extensions: dict[str, Choices | None] = {}
"""By vendor; they hold what vendors call back, and stay as long as the process."""
_merged: dict[str, Layers] = {}


def begin(manager: PluginManager, vendors: Mapping[str, int], *, wanted: bool) -> None:
    """Remember what there is. Called while torch is imported.

    :param vendors: those that are loaded, with their index in the compiled part.
    :param wanted: ``DL_TUNING``; False leaves all as if nothing had been tuned.
    """
    global _wanted
    _vendors.update(vendors)
    _wanted = wanted
    if wanted:
        _layers.extend(found_layers(manager))


def request() -> None:
    """Have the vendors' tables filled once they are needed. Called at the first use of a device."""
    global _requested
    if not _layers or _requested:
        return
    _requested = True
    for vendor in _vendors:
        choices = extension(vendor)
        if choices is not None:
            choices.request(functools.partial(_fill, vendor, choices))


def loaded() -> list[str]:
    """The vendors whose devices are visible."""
    return list(_vendors)


def extension(vendor: str) -> Choices | None:
    """The choices extension of a loaded vendor; None where it has none.

    :raises KeyError: the vendor is not loaded.
    """
    if vendor not in _extensions:
        # cffi, which a program without tuned choices does not need.
        from diopi_proto.choices import Choices

        _extensions[vendor] = Choices.of_address(handle(vendor), vendor)
    return _extensions[vendor]


def handle(vendor: str) -> int:
    """The address of a loaded vendor's instance.

    :raises KeyError: the vendor is not loaded.
    """
    from dl_core import _C

    return _C.vendor_handle(_vendors[vendor])


def tuning_stats() -> dict[str, dict[str, int]]:
    """What tuned choices are used, and how often, by vendor; vendors without choices are left out.

    ``entries`` are those of the vendor's table, ``hits`` and ``misses`` the look-ups since the
    start, ``ignored`` the entries that were measured with another release, library or device.
    ``from_<layer>`` says how many entries the user, the site and installed wheels gave.

    >>> torch.dl.tuning_stats()  # doctest: +SKIP
    {'cpu': {'entries': 2, 'hits': 96, 'misses': 12, 'ignored': 0, 'from_user': 2}}
    """
    stats: dict[str, dict[str, int]] = {}
    for vendor in _vendors:
        choices = extension(vendor)
        if choices is None:
            continue
        found, merged = choices.statistics(), _merged.get(vendor, Layers())
        stats[vendor] = {
            "entries": found.entries,
            "hits": found.hits,
            "misses": found.misses,
            "ignored": merged.ignored,
            **{f"from_{layer}": count for layer, count in merged.origins.items()},
        }
    return stats


def wanted() -> bool:
    """``DL_TUNING`` as it was when torch was imported."""
    return _wanted


def own_tables() -> dict[str, Layers]:
    """What the files of this process say now, by the identity of each vendor that has choices."""
    tables = {}
    for vendor in _vendors if _layers else ():
        choices = extension(vendor)
        if choices is not None:
            identity = choices.identity()
            tables[identity] = read_layers(_layers, identity)
    return tables


def take(tables: Mapping[str, Layers]) -> dict[str, Layers]:
    """Use these choices from now on, whatever the files say; returns what was taken.

    :param tables: by identity; a vendor whose identity is not there has no choices any more.
    :raises DiopiError: a vendor refuses its table, and keeps the one before.
    """
    global _requested
    _requested = True
    taken = {}
    for vendor in _vendors:
        if not tables and vendor not in _extensions:
            continue  # It has no table, and will get none.
        choices = extension(vendor)
        if choices is None:
            continue
        choices.request(None)
        identity = choices.identity()
        taken[identity] = tables.get(identity, Layers())
        _install(vendor, choices, taken[identity])
    return taken


def _fill(vendor: str, choices: Choices) -> None:
    """Install what the layers say; runs on the thread of the first call that has a choice."""
    from diopi_proto.errors import DiopiError

    try:
        _install(vendor, choices, read_layers(_layers, choices.identity()))
    except DiopiError as error:
        _log.warning(
            "tuned choices are not used: %s. `dl tune forget` drops them, DL_TUNING=off leaves all"
            " of them out",
            error,
        )


def _install(vendor: str, choices: Choices, table: Layers) -> None:
    from diopi_proto.choices import ChoiceKey

    _merged[vendor] = table
    choices.install({ChoiceKey.parse(key): name for key, name in table.choices.items()})
