"""The adaptors of vendors: what they convert before operators run, and how often they did."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from diopi_proto.adaptor.native import Adaptor

_adaptors: dict[str, Adaptor] = {}
"""By vendor; they stay as long as the process, as vendors do."""


def made_for(vendor: str, file: Path | None) -> int:
    """The address of the adaptor that a vendor's file asks for; 0 where it has none.

    :raises AdaptorError: the file says something that cannot be.
    """
    if file is None:
        return 0
    # cffi and numpy, which nobody else needs here.
    from diopi_proto.adaptor import read_adaptor
    from diopi_proto.adaptor.native import Adaptor

    _adaptors[vendor] = Adaptor(read_adaptor(file))
    return _adaptors[vendor].address


def summary_of(vendor: str) -> str:
    """What a vendor's adaptor file does, in a line; empty where it has none."""
    found = _adaptors.get(vendor)
    return "" if found is None else f"{found.file.path}: {found.file.summary()}"


def adaptor_stats() -> dict[str, dict[str, int]]:
    """What vendors' adaptors converted since the start or :func:`reset_adaptor_stats`, by operator
    of the contract. Those on the host have waited for the stream.

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
    """Let :func:`adaptor_stats` start again from nothing."""
    for adaptor in _adaptors.values():
        adaptor.reset()
