"""Operators that other wheels add to the vendors of this process."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from diopi_proto.errors import DiopiError
from diopi_proto.trial import admitted
from dl_core.added import (
    Addition,
    describe_mismatched,
    describe_ties,
    describe_unknown,
    missing_file,
)

if TYPE_CHECKING:
    from diopi_proto.added import AddedLayer

_layers: dict[str, AddedLayer] = {}
"""Layers by vendor; they live until the process exits, as vendors do."""
_wheels: dict[str, str] = {}
"""Wheels by the label of a library."""


@dataclass(frozen=True)
class AddedOperator:
    """An operator that a wheel adds to a device: an element of :func:`added_operators`.

    :ivar name: name of the library, as profiles show it.
    :ivar wheel: wheel that adds it, with its version.
    :ivar device: device as torch names it: ``"dl:0"``.
    :ivar calls: number of calls that it has served.
    :ivar declined: number of calls that it has left to the next implementation.
    """

    name: str
    wheel: str
    device: str
    calls: int
    declined: int


def admit(
    admissions: ExitStack, additions: Sequence[Addition], timeout: float
) -> tuple[list[Addition], list[str]]:
    """Return the additions whose libraries may be loaded while ``admissions`` is open, and
    sentences about others."""
    found, problems = [], []
    for each in additions:
        if reason := missing_file(each):
            problems.append(each.describe_omission(reason))
            continue
        try:
            untried = admissions.enter_context(
                admitted(each.added.library, added_to=each.added.vendor, timeout=timeout)
            )
        except DiopiError as error:
            problems.append(each.describe_omission(str(error)))
            continue
        if untried:
            problems.append(
                each.describe_omission(f"they could not be tried in another process: {untried}")
            )
            continue
        found.append(each)
    return found, problems


def bind(vendor: str, additions: Sequence[Addition], own: int) -> int:
    """Return the address of the layer that calls added operators before a vendor's own.

    :param own: address of the vendor's own layer; 0 if it has none.
    """
    # cffi and the schema, which only processes with added operators need.
    from diopi_proto import ffi
    from diopi_proto.added import AddedLayer, served_address
    from dl_core import _C

    libraries = [each.library for each in additions]
    layer = _layers[vendor] = AddedLayer(libraries, ffi.cast("dl_adaptor_t*", own))
    _wheels.update({each.label: each.record.wheel for each in additions})
    _C.set_served_by(served_address())
    return layer.address


def problems_of(vendor: str, additions: Sequence[Addition]) -> list[str]:
    """Return sentences about added operators of a loaded vendor that are not called, or that
    several wheels add."""
    layer = _layers.get(vendor)
    if layer is None:
        return []
    from diopi_proto.schema import load

    by_label = {each.label: each for each in additions}
    problems = [
        by_label[library.label].describe_omission(reason) for library, reason in layer.problems
    ]
    found: dict[tuple[str, str], list[str]] = {}
    bound: dict[str, list[Addition]] = {}
    for one in layer.operators():
        addition = by_label[one.library.label]
        if one.state == "refused":
            problems.append(addition.describe_omission(one.reason))
        elif one.state == "bound" and one.device < 0:
            bound.setdefault(one.operator, []).append(addition)
        else:
            found.setdefault((one.state, addition.label), []).append(one.operator)
    for (state, label), names in found.items():
        addition = by_label[label]
        if state == "mismatched":
            problems.append(describe_mismatched(addition, names))
        elif state == "unknown":
            problems.append(describe_unknown(addition, names, load()))
    return [*problems, *describe_ties(bound)]


def added_operators() -> dict[str, list[AddedOperator]]:
    """Return the operators that other wheels add to the visible devices, by contract operator, in
    the order in which they are called.

    >>> torch.dl.added_operators()  # doctest: +SKIP
    {'diopiAdd': [AddedOperator(name='fast', wheel='dl-fast 1.0', device='dl:0', calls=12, ...)]}
    """
    from dl_core import _C

    found: dict[str, list[AddedOperator]] = {}
    devices: dict[tuple[str, int], str] = {}
    for index in range(_C.device_count()):
        info = _C.device_info(index)
        devices[info["vendor"], info["local_index"]] = f"dl:{index}"
    for vendor, device in devices:
        if vendor in _layers:
            _layers[vendor].select(device)
    for vendor, layer in _layers.items():
        for one in layer.operators():
            name = devices.get((vendor, one.device))
            if one.state != "bound" or name is None:
                continue
            label = one.library.label
            found.setdefault(one.operator, []).append(
                AddedOperator(one.library.name, _wheels[label], name, one.calls, one.declined)
            )
    return dict(sorted(found.items()))
