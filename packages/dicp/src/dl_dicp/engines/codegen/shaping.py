"""Fusion of dimensions that are contiguous with each other, for fewer and longer rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from dl_dicp.engines.codegen.groups import Group
from dl_dicp.engines.codegen.views import Access


@dataclass
class Shape:
    """Row shape of a kernel.

    :ivar rows: number of rows in each dimension.
    :ivar stretched: factor by which the rows of calls became longer.
    :ivar places: new accesses of the calls, by their old ones.
    """

    rows: tuple[int, ...]
    stretched: int
    places: Mapping[Access, Access]


def shape_of(group: Group) -> Shape:
    """Return the row shape of a group's kernel."""
    found: dict[Access, Access] = {}
    for call in group.calls:
        for access in (*call.reads.values(), *call.writes.values()):
            found[access] = access
    kept = [d for d, size in enumerate(group.rows) if size != 1]
    rows = [group.rows[d] for d in kept]
    found = {x: replace(x, outer=tuple(x.outer[d] for d in kept)) for x in found}
    place = len(rows) - 1
    while place > 0:
        if all(x.outer[place - 1] == x.outer[place] * rows[place] for x in found.values()):
            found = {key: _without(x, place - 1) for key, x in found.items()}
            size = rows.pop(place - 1)
            rows[place - 1] *= size
        place -= 1
    stretched = 1
    if group.is_elementwise and rows:
        length = group.longest
        flat = length == 1 and all(x.outer[-1] in (0, 1) for x in found.values())
        long = _are_one(found.values(), length) and all(c.length == length for c in group.calls)
        if flat or long:
            stretched = rows.pop()
            found = {key: _stretched(x, stretched) for key, x in found.items()}
    return Shape(tuple(rows), stretched, found)


def _without(access: Access, place: int) -> Access:
    return replace(access, outer=access.outer[:place] + access.outer[place + 1 :])


def _stretched(access: Access, size: int) -> Access:
    """Merge the last dimension of the rows' indices into the row."""
    inner = access.inner or int(access.outer[-1] == 1)
    length = access.length * size if inner else 1
    return replace(access, outer=access.outer[:-1], inner=inner, length=length)


def _are_one(accesses: Iterable[Access], length: int) -> bool:
    """Return True if each row begins where the previous one ends."""
    return all(x.outer[-1] == (length if x.inner else 0) for x in accesses)
