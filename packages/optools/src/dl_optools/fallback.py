"""Tool that runs operators on the CPU instead of the device."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, cast

import torch

from diopi_proto.tolerance.torch_operators.op_classes import draws
from diopi_proto.tolerance.torch_operators.schema import Overload
from dl_optools import levels
from dl_optools.backward_graph import (
    next_sequence_number,
    node_metadata,
    nodes_behind,
    nodes_since,
)
from dl_optools.call import OUR_MODES, OpCall, own_work
from dl_optools.launching.merging import format_stayed
from dl_optools.mode_stack import WithMode
from dl_optools.names import Level, overload_name
from dl_optools.on_host import leaves_device, only_on_device, run_on_host
from dl_optools.tensors import tensors_of
from dl_optools.tool import Tool

_MARK = "dl_optools.fallback"


class _OnHost(WithMode):
    """Mode that runs every overload inside it on the CPU.

    :param random: include operators that draw random numbers.
    :param stayed: receives the names of operators that only the device has.
    :ivar moved: an overload ran on the CPU.
    :ivar drew: an overload drew random numbers on the device.
    """

    supports_higher_order_operators = True

    def __init__(self, random: bool, stayed: set[str]) -> None:
        super().__init__()
        self._random = random
        self._stayed = stayed
        self.moved = self.drew = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not isinstance(func, Overload):
            return func(*args, **(kwargs or {}))
        if only_on_device(func):
            self._stayed.add(overload_name(func))
        kwargs = kwargs or {}
        with own_work():
            moved = leaves_device(func, args, kwargs, random=self._random)
            self.moved |= moved
            self.drew |= not moved and draws(func, args, kwargs)
            return run_on_host(func, args, kwargs, leaves=moved)


OUR_MODES.append(_OnHost)


class _MarkedBackward(Tool):
    """Backward of Python functions that fell back: their nodes carry a mark."""

    variable = "FALLBACK"

    def wants(self, name: str, function: Callable[..., Any]) -> bool:
        return True

    def applies(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
        node = torch._C._current_autograd_node()
        return node is not None and _MARK in node_metadata(node)

    def handle(self, call: OpCall) -> Any:
        overload = cast(Overload[Any, Any], call.function)
        node = torch._C._current_autograd_node()
        random = node is not None and bool(node_metadata(node)[_MARK])
        return run_on_host(overload, call.args, call.kwargs, random=random)


class OpFallback(Tool):
    """Runs operators on the CPU and copies their results to the device, in forward and backward.

    In-place writes, views, ``out=``, return types and the order of random numbers are preserved;
    only the values may differ. ``OP_FALLBACK_LIST`` and ``OP_FALLBACK_DISABLE_LIST`` select
    operators.

    Operators that draw random numbers stay on the device, so that the program draws the same
    numbers as without the tool; to fall back they have to be named exactly, not matched by an
    expression.

    Operators that only devices have, such as a library's fused cells, also stay on the device. If
    they were named, the tool reports that at its end.
    """

    variable = "FALLBACK"

    def opened(self) -> None:
        self._stayed: set[str] = set()
        if self.level is Level.API:
            self._backward = _MarkedBackward(device=self.device)
            levels.add(self._backward, Level.DISPATCH)

    def closed(self) -> None:
        if self.level is Level.API:
            levels.remove(self._backward, Level.DISPATCH)
        if self._stayed and not self.reports:
            for line in format_stayed(self._stayed):
                warnings.warn(line, stacklevel=3)

    def report(self) -> dict[str, Any]:
        """Return the operators that were named, but run on the device."""
        return {"stayed": sorted(self._stayed)}

    def handle(self, call: OpCall) -> Any:
        random = self.selection.is_listed_exactly(call.name)
        if self.level is Level.API:
            return self.run_function(call)[0]
        overload = cast(Overload[Any, Any], call.function)
        if random and only_on_device(overload):
            self._stayed.add(call.name)
        return run_on_host(overload, call.args, call.kwargs, random=random)

    def run_function(self, call: OpCall) -> tuple[Any, bool]:
        """Run a Python function.

        :returns: its result, and False if it only drew random numbers, on the device.
        """
        random = self.selection.is_listed_exactly(call.name)
        given = tensors_of(call.args, call.kwargs)
        older = nodes_behind(given)
        started = next_sequence_number()
        with _OnHost(random, self._stayed if random else set()) as mode:
            result = call.proceed()
        # In-place functions return nothing new: the written tensors have the nodes.
        for node in nodes_since(tensors_of(result, given), started, older):
            node_metadata(node)[_MARK] = random
        return result, mode.moved or not mode.drew
