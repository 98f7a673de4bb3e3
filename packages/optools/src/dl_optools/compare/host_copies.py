"""A call's arguments and answers on the CPU, and what else a bundle of it says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from dl_core.torch_backend.judging.comparison import to_host
from dl_optools.bundle.origin import context_of
from dl_optools.call import OpCall
from dl_optools.compare.trace import Answers
from dl_optools.relocation import Relocation
from dl_optools.tensors import grad_fn_of, map_leaves


@dataclass(frozen=True)
class Place:
    """Where a tensor of the arguments was; whether it was a leaf of autograd's graph."""

    device: str
    leaf: bool


@dataclass(frozen=True)
class CallRecord:
    """What the copies of a call do not tell.

    :ivar leaves: of ``(args, kwargs)`` before the call, in order: a :class:`Place` for each tensor,
        everything else as it was given.
    :ivar context: see :func:`.bundle.origin.context_of`.
    :ivar result: what was returned, with copies of its tensors.
    :ivar after: arguments that were written or returned, by their positions among the tensors of
        the arguments: copies of what the call left there.
    :ivar devices: where the copies in ``result`` and ``after`` come from, by their ids.
    """

    leaves: Sequence[Any]
    context: Mapping[str, Any]
    result: Any
    after: Mapping[int, torch.Tensor]
    devices: Mapping[int, str]


class HostArguments:
    """The arguments on the CPU, as they are now, with devices among them named so.

    :param device: type of the device whose name gives way.
    :param recorded: :meth:`answered` makes a record.
    :ivar tree: ``(args, kwargs)``.
    """

    def __init__(self, call: OpCall, device: str, recorded: bool) -> None:
        given = (call.args, dict(call.kwargs))
        self._recorded = recorded
        if recorded:
            self._leaves = [_given(x) for x in tree_leaves(given)]
            self._context = context_of(device, call.level)

        def leaf(value: Any) -> Any:
            if isinstance(value, torch.device) and value.type == device:
                return torch.device("cpu")
            return value

        args, kwargs = Relocation(given).tree
        kwargs = {
            name: "cpu" if name == "device" and isinstance(value, (str, int)) else value
            for name, value in kwargs.items()
        }
        self.tree = tree_map(leaf, (args, kwargs))

    def answered(
        self, result: Any, answers: Answers, tensors: Sequence[torch.Tensor]
    ) -> tuple[Answers, CallRecord | None]:
        """Copies of the answers, and the record.

        :param tensors: of the arguments, as the program has them.
        """
        copies: dict[int, torch.Tensor] = {}
        devices: dict[int, str] = {}

        def once(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            copy = copies.get(id(value))
            if copy is None:
                copy = copies[id(value)] = copied(value)
                devices[id(copy)] = str(value.device)
            return copy

        found = [(label, once(value)) for label, value in answers]
        if not self._recorded:
            return found, None
        returned = map_leaves(once, result)
        after = {at: copies[id(x)] for at, x in enumerate(tensors) if id(x) in copies}
        return found, CallRecord(self._leaves, self._context, returned, after, devices)


def _given(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return Place(str(value.device), grad_fn_of(value) is None)
    # Sets may hold tensors of the program; no bundle keeps them.
    return type(value) if isinstance(value, (set, frozenset)) else value


def copied(value: Any) -> Any:
    """A tensor's values now, on the CPU; anything else as it is."""
    if not isinstance(value, torch.Tensor):
        return value
    return to_host(value.detach().to("cpu", copy=True))
