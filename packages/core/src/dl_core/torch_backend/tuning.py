"""Measured choices between a vendor's implementations at dispatch.

The vendor looks up choices (``dl/choices.h``). This module installs the table before the first
choice: ``import torch`` only checks for files of choices; the first use of a device asks the vendor
for a callback at the first choice; the callback reads the files. Ranks of a job read the files when
they agree on a table (:mod:`.agreement`), and not afterwards.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from dl_core.manager import PluginManager
from dl_core.tuned_choices import Database, Layers, find_layers, read_layers

if TYPE_CHECKING:
    from diopi_proto.choices import Choices

_log = logging.getLogger("dl_core.tuning")
_vendors: dict[str, int] = {}
"""Loaded vendors and their indices in the compiled part."""
_layers: list[tuple[str, Database]] = []
_wanted = True
_requested = False
_extensions: dict[str, Choices | None] = {}
"""Choices extensions by vendor. They own the callbacks of vendors, and live until the process
exits."""
_merged: dict[str, Layers] = {}


def begin(manager: PluginManager, vendors: Mapping[str, int], *, wanted: bool) -> None:
    """Store the settings. Called during ``import torch``.

    :param vendors: loaded vendors and their indices in the compiled part.
    :param wanted: value of ``DL_TUNING``; if False, tuned choices are ignored.
    """
    global _wanted
    _vendors.update(vendors)
    _wanted = wanted
    if wanted:
        _layers.extend(find_layers(manager))


def request() -> None:
    """Request that vendors' tables are filled on demand. Called at the first use of a device."""
    global _requested
    if not _layers or _requested:
        return
    _requested = True
    for vendor in _vendors:
        choices = extension(vendor)
        if choices is not None:
            choices.request(functools.partial(_fill, vendor, choices))


def loaded() -> list[str]:
    """Return the vendors of visible devices."""
    return list(_vendors)


def extension(vendor: str) -> Choices | None:
    """Return the choices extension of a loaded vendor; None if it does not implement it.

    :raises KeyError: the vendor is not loaded.
    """
    if vendor not in _extensions:
        # cffi, which programs without tuned choices do not need.
        from diopi_proto.choices import Choices

        _extensions[vendor] = Choices.of_address(handle(vendor), vendor)
    return _extensions[vendor]


def handle(vendor: str) -> int:
    """Return the address of a loaded vendor's instance.

    :raises KeyError: the vendor is not loaded.
    """
    from dl_core import _C

    return _C.vendor_handle(_vendors[vendor])


def tuning_stats() -> dict[str, dict[str, int]]:
    """Return the tuned choices and their use, by vendor; vendors without choices are omitted.

    ``entries`` is the size of the vendor's table, ``hits`` and ``misses`` count look-ups since the
    start, ``ignored`` counts entries that were measured with another release, library or device.
    ``from_<layer>`` is the number of entries from the user, the site and installed wheels.

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
    """Return the value of ``DL_TUNING`` at ``import torch``."""
    return _wanted


def own_tables() -> dict[str, Layers]:
    """Return the contents of this process's files, by the identity of each vendor that
    has choices."""
    tables = {}
    for vendor in _vendors if _layers else ():
        choices = extension(vendor)
        if choices is not None:
            identity = choices.identity()
            tables[identity] = read_layers(_layers, identity)
    return tables


def take(tables: Mapping[str, Layers]) -> dict[str, Layers]:
    """Use these choices from now on instead of those in the files; return the installed tables.

    :param tables: tables by identity; a vendor whose identity is missing gets no choices.
    :raises DiopiError: a vendor rejects its table, and keeps the previous one.
    """
    global _requested
    _requested = True
    taken = {}
    for vendor in _vendors:
        if not tables and vendor not in _extensions:
            continue  # this vendor has no table and gets none
        choices = extension(vendor)
        if choices is None:
            continue
        choices.request(None)
        identity = choices.identity()
        taken[identity] = tables.get(identity, Layers())
        _install(vendor, choices, taken[identity])
    return taken


def _fill(vendor: str, choices: Choices) -> None:
    """Install the choices of the files; runs on the thread of the first call with a choice."""
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
