"""Calls of every overload: its recorded calls, recorded calls of its other forms with adapted
arguments, and handwritten calls.

The forms of an operator have the same argument names, so that a recorded call of one form is a call
of the other forms: with memory for the results of out= forms, and on a copy for in-place forms.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_flatten

from dl_torch_tests.opinfo.operators import Judgement
from dl_torch_tests.opinfo.relocate import Relocation
from dl_torch_tests.opinfo.sweep import Arguments, Call, tensors_of

from .foreach_arguments import foreach_arguments
from .recording import Bound, Recorded, bind, recordings
from .written_calls import FORMULAS, WRITTEN

ALIASES = {
    "__ilshift__": "bitwise_left_shift",
    "__irshift__": "bitwise_right_shift",
    "__lshift__": "bitwise_left_shift",
    "__rshift__": "bitwise_right_shift",
    "_add_relu": "add",
    "_aminmax": "aminmax",
    "_index_put_impl": "index_put",
    "_logcumsumexp": "logcumsumexp",
    "_stack": "stack",
    "adaptive_avg_pool2d": "_adaptive_avg_pool2d",
    "adaptive_avg_pool3d": "_adaptive_avg_pool3d",
    "adaptive_avg_pool3d_backward": "_adaptive_avg_pool3d_backward",
}
"""Operators that take the arguments of another."""

SHAPED_ONLY = frozenset({"binary_cross_entropy_backward.grad_input", "rrelu_with_noise.out"})
"""out= overloads for which torch's CPU does not resize the given memory."""

TOLD_RESULTS = {
    "_embedding_bag": 1,
    "_embedding_bag_forward_only": 1,
    "_scaled_dot_product_fused_attention_overrideable": 1,
}
"""Number of results that are defined for every device; further results are a device's internal
state for the gradient."""

HOST_ARGUMENTS = frozenset({"scalars"})
"""Arguments of scalars packed in a tensor: torch requires them on the CPU, on any device."""


@dataclass(frozen=True)
class CallOf:
    """A call of one overload, with arguments on the CPU."""

    overload: str
    bound: Bound
    judgement: Judgement

    def arguments(self, device: str) -> Arguments:
        """Return positional and named arguments, on a device."""
        relocation = Relocation(device)
        moved = {
            name: Relocation()(value) if name in HOST_ARGUMENTS else relocation(value)
            for name, value in self.bound.items()
        }
        schema = operator(self.overload)._schema
        positional = [argument for argument in schema.arguments if not argument.kwarg_only]
        while positional and positional[-1].name not in moved:
            positional.pop()
        values = [moved.get(argument.name, argument.default_value) for argument in positional]
        placed = {argument.name for argument in positional}
        named = {name: value for name, value in moved.items() if name not in placed}
        return None, tuple(values), named


def operator(overload: str) -> Any:
    packet, _, name = overload.partition(".")
    return getattr(getattr(torch.ops.aten, packet), name or "default")


def packet_of(overload: str) -> str:
    return overload.partition(".")[0]


def stem_of(packet: str) -> str:
    """Return the name without the suffix of an in-place form; Python's own names are unchanged."""
    return packet if packet.endswith("__") else packet.removesuffix("_")


def caller(overload: str) -> Call:
    """Return a function that calls the overload; on the CPU a formula, if torch has no kernel."""
    op = operator(overload)
    formula = FORMULAS.get(overload)
    told = TOLD_RESULTS.get(overload)

    def call(arguments: Arguments) -> Any:
        _, args, kwargs = arguments
        leaves = tree_flatten((args, kwargs))[0]
        on_dl = any(isinstance(leaf, torch.Tensor) and leaf.device.type == "dl" for leaf in leaves)
        with torch.no_grad():
            function = op if formula is None or on_dl else formula
            result = function(*args, **kwargs)
            return result if told is None else result[:told]

    return call


def calls_of(overload: str) -> list[CallOf]:
    """Return calls of the overload; empty if neither it nor another form of it is known."""
    if overload.startswith("_foreach_"):
        op = operator(overload)
        args, kwargs = foreach_arguments(op, torch.float32)
        return [CallOf(overload, bind(op, tuple(args), kwargs), Judgement())]
    known = _known(overload) or tuple(_of_other_forms(overload))
    return [CallOf(overload, each.bound, each.judgement) for each in known]


def _known(overload: str) -> tuple[Recorded, ...]:
    if overload in WRITTEN:
        op = operator(overload)
        return tuple(
            Recorded(bind(op, args, kwargs), Judgement(independent=independent))
            for args, kwargs, independent in WRITTEN[overload]
        )
    return recordings().get(overload, ())


def _of_other_forms(overload: str) -> Iterator[Recorded]:
    schema = operator(overload)._schema
    outs = [argument.name for argument in schema.arguments if argument.is_out]
    for source in _other_forms(overload):
        for recorded in _known(source):
            bound = _fitting(schema, operator(source)._schema, recorded.bound)
            if bound is None:
                continue
            if not outs:
                yield Recorded(bound, recorded.judgement)
                continue
            results = _results(source, recorded)
            if len(results) == len(outs):
                for shaped in (True,) if overload in SHAPED_ONLY else (True, False):
                    targets = (_target(result, shaped) for result in results)
                    given = bound | dict(zip(outs, targets, strict=True))
                    yield Recorded(given, recorded.judgement)


def _other_forms(overload: str) -> list[str]:
    """Return known overloads of the same operator and of its functional and in-place forms."""
    packet = packet_of(overload)
    stem = stem_of(packet)
    wanted = {packet, stem, f"{stem}_", ALIASES.get(stem)}
    every = sorted({*recordings(), *WRITTEN})
    return [each for each in every if each != overload and packet_of(each) in wanted]


def _fitting(schema: Any, source: Any, bound: Bound) -> Bound | None:
    """Return the arguments of a call that another form takes; None if it needs more arguments."""
    types = {argument.name: _kind(argument) for argument in source.arguments}
    taken = {argument.name for argument in schema.arguments}
    outs = {argument.name for argument in source.arguments if argument.is_out}
    if any(tensors_of(value) for name, value in bound.items() if name not in taken | outs):
        return None
    found: Bound = {}
    for argument in schema.arguments:
        if argument.is_out:
            continue
        name = argument.name
        value = bound.get(name)
        if value is not None and types[name] == _kind(argument):
            found[name] = value
        elif value is not None or not (
            argument.has_default_value() or str(argument.type).startswith("Optional")
        ):
            return None
        elif name in bound:
            found[name] = value
        elif not argument.has_default_value():
            found[name] = None
    return found


def _kind(argument: Any) -> str:
    kind = str(argument.type)
    return kind[len("Optional[") : -1] if kind.startswith("Optional[") else kind


def _results(source: str, recorded: Recorded) -> list[Any]:
    call = CallOf(source, recorded.bound, recorded.judgement)
    torch.manual_seed(0)
    return list(tree_flatten(caller(source)(call.arguments("cpu")))[0])


def _target(result: Any, shaped: bool) -> torch.Tensor:
    """Return memory for a result, of the right shape or to be resized."""
    if not isinstance(result, torch.Tensor):
        return torch.empty(0)
    return torch.full_like(result, 1) if shaped else result.new_empty(0)
