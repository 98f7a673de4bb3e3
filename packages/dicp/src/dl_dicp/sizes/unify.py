"""Unification of two records of a graph at different sizes into one for all sizes.

The records must be equal call by call. A number that differs must be explained by the sizes of the
graph; otherwise the graph gets a separate program for each argument layout.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from dl_dicp.errors import FixedSizesError
from dl_dicp.recording.calls import Call
from dl_dicp.recording.memory import Block, Ref
from dl_dicp.recording.scalars import is_number, value_text
from dl_dicp.recording.trace import Host, Lowered, Opaque, Trace
from dl_dicp.sizes.fit import Fit
from dl_graph.expression import Size


def unify(one: Trace, other: Trace, fit: Fit) -> Trace:
    """Return the record with expressions in place of numbers that differ.

    :param one: unfolded record, as is ``other``.
    :raises FixedSizesError: the records differ, or a number cannot be explained.
    """
    same = _Unifier(fit)
    _check(len(one.steps) == len(other.steps), "another number of steps")
    _check(one.slots == other.slots, "another number of values")
    made = Trace(one.device, same.tree(one.arguments, other.arguments), one.slots)
    _check(one.constants.keys() == other.constants.keys(), "other constants")
    for slot, constant in one.constants.items():
        same.constant(constant, other.constants[slot])
        made.constants[slot] = constant
    made.steps = [same.step(*pair) for pair in zip(one.steps, other.steps, strict=True)]
    made.output = same.tree(one.output, other.output)
    _check(one.repeated == other.repeated, "other repeated results")
    made.repeated = one.repeated
    for name in one.nodes.keys() & other.nodes.keys():
        pairs = zip(one.nodes[name], other.nodes[name], strict=False)
        made.nodes[name] = [same.result(*pair) for pair in pairs]
    return made


def _check(holds: bool, what: str) -> None:
    if not holds:
        raise FixedSizesError(f"at other sizes it had {what}")


class _Unifier:
    def __init__(self, fit: Fit) -> None:
        self._fit = fit
        self._blocks: dict[Block, tuple[Block, Block]] = {}
        self._partners: dict[Block, Block] = {}
        self._refs: dict[tuple[int, int], tuple[Ref, Ref, Ref]] = {}

    def step(self, one: Lowered | Host, other: Lowered | Host) -> Lowered | Host:
        _check(one.name == other.name, f"{other.name} in place of {one.name}")
        if isinstance(one, Lowered) and isinstance(other, Lowered):
            _check(len(one.calls) == len(other.calls), f"other calls in {one.name}")
            pairs = zip(one.calls, other.calls, strict=True)
            return Lowered(one.name, [self.call(*pair) for pair in pairs])
        if isinstance(one, Host) and isinstance(other, Host):
            _check(one.slots == other.slots, f"other results of {one.name}")
            return replace(
                one,
                args=self.tree(one.args, other.args),
                kwargs=self.tree(one.kwargs, other.kwargs),
                results=self.tree(one.results, other.results),
                constants=one.constants if self._unchanging(one, other) else None,
            )
        raise FixedSizesError(f"{one.name} ran on the host at some sizes only")

    def _unchanging(self, one: Host, other: Host) -> bool:
        """Return True if constants of each run are the same at all sizes."""
        if one.constants is None or other.constants is None:
            return False
        pairs = zip(one.constants, other.constants, strict=True)
        return all(a.shape == b.shape and torch.equal(a.cpu(), b.cpu()) for a, b in pairs)

    def call(self, one: Call, other: Call) -> Call:
        _check(one.operator == other.operator, f"{other.operator} in place of {one.operator}")
        if _is_plain_copy(one) and _is_plain_copy(other):
            try:
                return Call(one.operator, self.tree(one.arguments, other.arguments))
            except FixedSizesError:
                one, other = _of_bytes(one), _of_bytes(other)
        return Call(one.operator, self.tree(one.arguments, other.arguments))

    def constant(self, one: Any, other: Any) -> None:
        if is_number(one) and is_number(other):
            same = one.dtype == other.dtype and value_text(one) == value_text(other)
        elif isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
            same = one is other or (one.shape == other.shape and torch.equal(one, other))
        else:
            same = type(one) is type(other) and (one == other or one != one)
        _check(bool(same), "another constant")

    def tree(self, one: Any, other: Any) -> Any:
        """Unify arguments or results: trees of refs, opaque values and numbers."""
        _check(type(one) is type(other), "a value of another kind")
        if isinstance(one, Ref):
            return self.ref(one, other)
        if isinstance(one, Opaque):
            _check(one.slot == other.slot, "another order of values")
            return (
                one
                if one.unread
                else replace(one, constant=self.tree(one.constant, other.constant))
            )
        if isinstance(one, dict):
            _check(one.keys() == other.keys(), "other arguments")
            if one.keys() == {"dtype", "value"}:
                return self._scalar(one, other)
            return {key: self.tree(value, other[key]) for key, value in one.items()}
        if isinstance(one, list | tuple):
            _check(len(one) == len(other), "a list of another length")
            each = [self.tree(*pair) for pair in zip(one, other, strict=True)]
            return each if isinstance(one, list) else type(one)(each)
        if isinstance(one, int) and not isinstance(one, bool):
            return self._fit.size(one, other)
        if isinstance(one, str) and one != other:
            return self._text(one, other)
        self.constant(one, other)
        return one

    def _scalar(self, one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
        _check(one["dtype"] == other["dtype"], "a scalar of another dtype")
        return {"dtype": one["dtype"], "value": self.tree(one["value"], other["value"])}

    def _text(self, one: str, other: str) -> Any:
        """Unify literals: floating-point numbers and names are text."""
        try:
            numbers = float.fromhex(one), float.fromhex(other)
        except ValueError:
            raise FixedSizesError(f"at other sizes it had {other} in place of {one}") from None
        found = self._fit.number(*numbers)
        return one if found is None else found

    def result(self, one: Any, other: Any) -> Ref | Size | None:
        """Return the result of a node if it is a tensor of the device or an integer.

        A result without a counterpart may be unused and does not make the records differ.
        """
        try:
            if isinstance(one, Ref) and isinstance(other, Ref):
                return self.ref(one, other)
            if isinstance(one, Opaque) and isinstance(other, Opaque):
                numbers = one.constant, other.constant
                return self._fit.size(*numbers) if set(map(type, numbers)) == {int} else None
        except FixedSizesError:
            pass
        return None

    def ref(self, one: Ref, other: Ref) -> Ref:
        """Return the same object for the same pair, because blocks are compared by identity."""
        key = id(one), id(other)
        if key not in self._refs:
            block = self._block(one.block, other.block)
            if key not in self._refs:
                self._refs[key] = one, other, self._view(block, one, other)
        return self._refs[key][2]

    def _view(self, block: Block, one: Ref, other: Ref) -> Ref:
        _check(one.dtype == other.dtype, "a tensor of another dtype")
        _check(len(one.shape) == len(other.shape), "a tensor of another rank")
        size = self._fit.size
        return Ref(
            block,
            one.dtype,
            tuple(map(size, one.shape, other.shape)),
            tuple(map(size, one.strides, other.strides)),
            size(one.offset, other.offset),
            one.storage_offset,
        )

    def _block(self, one: Block, other: Block) -> Block:
        if one in self._blocks:
            made, partner = self._blocks[one]
            _check(partner is other, "a tensor in other memory")
            return made
        _check(other not in self._partners, "tensors that share memory")
        self._partners[other] = one
        _check(one.slot == other.slot, "another order of values")
        made = Block(one.base, self._fit.size(one.size, other.size), slot=one.slot)
        self._blocks[one] = made, other
        if one.given is not None and other.given is not None:
            given = self._view(made, one.given, other.given)
            self._refs[id(one.given), id(other.given)] = one.given, other.given, given
            made.given = given
        return made


def _is_plain_copy(call: Call) -> bool:
    return call.operator == "diopiCopyInp" and all(
        len(ref.shape) == 1 and ref.strides == (1,) and ref.dtype in ("int32", "uint8")
        for ref, _ in call.uses()
    )


def _of_bytes(call: Call) -> Call:
    """Return the copy as a copy of bytes: at other sizes, wider integers may not divide them."""
    return Call(
        call.operator,
        {
            name: ref
            if ref.dtype == "uint8"
            else replace(ref, dtype="uint8", shape=(4 * ref.shape[0],))
            for name, ref in call.arguments.items()
        },
    )
