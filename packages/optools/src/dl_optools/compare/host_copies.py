"""Copies of a call's arguments and outputs on the CPU, and the other data of its bundle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from diopi_proto.tolerance.torch_operators.comparison import to_host
from dl_optools.bundle.origin import context_of
from dl_optools.call import OpCall
from dl_optools.compare.trace import Answers
from dl_optools.relocation import Relocation
from dl_optools.tensors import grad_fn_of, map_leaves


@dataclass(frozen=True)
class TensorOrigin:
    """Device of an argument tensor, and whether it was a leaf of autograd's graph."""

    device: str
    leaf: bool


@dataclass(frozen=True)
class CallRecord:
    """Data of a call that its copies do not contain.

    :ivar leaves: leaves of ``(args, kwargs)`` before the call, in order: a :class:`TensorOrigin`
        for each tensor, everything else unchanged.
    :ivar context: see :func:`.bundle.origin.context_of`.
    :ivar result: the returned value, with copies of its tensors.
    :ivar after: copies of arguments that were written or returned, after the call, by their index
        among the tensors of the arguments.
    :ivar devices: original devices of the copies in ``result`` and ``after``, by id.
    """

    leaves: Sequence[Any]
    context: Mapping[str, Any]
    result: Any
    after: Mapping[int, torch.Tensor]
    devices: Mapping[int, str]


class HostArguments:
    """Copies of the current arguments on the CPU; arguments that name the device name the CPU.

    :param device: type of the device that is replaced.
    :param recorded: :meth:`copy_answers` creates a record.
    :ivar tree: ``(args, kwargs)``.
    """

    def __init__(self, call: OpCall, device: str, recorded: bool) -> None:
        given = (call.args, dict(call.kwargs))
        self._recorded = recorded
        if recorded:
            self._leaves = [_convert_leaf(x) for x in tree_leaves(given)]
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

    def copy_answers(
        self, result: Any, answers: Answers, tensors: Sequence[torch.Tensor]
    ) -> tuple[Answers, CallRecord | None]:
        """Return copies of the outputs, and the record.

        :param tensors: tensors among the arguments, as the program has them.
        """
        copies: dict[int, torch.Tensor] = {}
        devices: dict[int, str] = {}

        def once(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            copy = copies.get(id(value))
            if copy is None:
                copy = copies[id(value)] = copy_to_host(value)
                devices[id(copy)] = str(value.device)
            return copy

        found = [(label, once(value)) for label, value in answers]
        if not self._recorded:
            return found, None
        returned = map_leaves(once, result)
        after = {at: copies[id(x)] for at, x in enumerate(tensors) if id(x) in copies}
        return found, CallRecord(self._leaves, self._context, returned, after, devices)


def _convert_leaf(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return TensorOrigin(str(value.device), grad_fn_of(value) is None)
    # Sets may hold tensors of the program; bundles cannot store sets.
    return type(value) if isinstance(value, (set, frozenset)) else value


def copy_to_host(value: Any) -> Any:
    """Return a tensor's current values on the CPU; anything else unchanged."""
    if not isinstance(value, torch.Tensor):
        return value
    return to_host(value.detach().to("cpu", copy=True))
