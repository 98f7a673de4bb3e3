"""Adaptors of vendors: conversions of arguments before operators run, and their counts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from diopi_proto.adaptor.native import Adaptor
    from diopi_proto.legacy import LegacyOperators

_adaptors: dict[str, Adaptor] = {}
"""Adaptors by vendor; they live until the process exits, as vendors do."""
_legacy: dict[str, LegacyOperators] = {}
"""Operators of libraries in DIOPI's own style, by vendor; they live until the process exits,
too."""


def adaptor_address(vendor: str, file: Path | None) -> int:
    """Return the address of the adaptor for a vendor's file; 0 if it has none.

    :raises AdaptorError: the file is invalid.
    """
    if file is None:
        return 0
    # cffi and numpy, which only this code needs.
    from diopi_proto.adaptor import read_adaptor
    from diopi_proto.adaptor.native import Adaptor

    _adaptors[vendor] = Adaptor(read_adaptor(file))
    return _adaptors[vendor].address


def legacy_address(vendor: str, library: Path) -> int:
    """Return the address of the layer that calls a library in DIOPI's own style.

    :raises VendorLoadError: the library cannot be loaded.
    """
    from diopi_proto.legacy import LegacyOperators

    _legacy[vendor] = LegacyOperators(library)
    return _legacy[vendor].address


def summary_of(vendor: str) -> str:
    """Return a one-line summary of a vendor's adaptor file; empty if it has none."""
    found = _adaptors.get(vendor)
    return "" if found is None else f"{found.file.path}: {found.file.summary()}"


def adaptor_stats() -> dict[str, dict[str, int]]:
    """Return the conversions by vendors' adaptors since the start or :func:`reset_adaptor_stats`,
    by contract operator. Conversions on the host synchronize the stream.

    >>> torch.dl.adaptor_stats()  # doctest: +SKIP
    {'diopiIndexSelect': {'index: int64→int32': 12}}
    """
    stats: dict[str, dict[str, int]] = {}
    for adaptor in _adaptors.values():
        for one in adaptor.conversions():
            found = stats.setdefault(one.operator, {})
            found[str(one)] = found.get(str(one), 0) + one.times
    return {operator: dict(sorted(found.items())) for operator, found in sorted(stats.items())}


def reset_adaptor_stats() -> None:
    """Reset the counts of :func:`adaptor_stats`."""
    for adaptor in _adaptors.values():
        adaptor.reset()
