"""Random calls, determined by the session's seed, the operator's name and the call's number."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_map

from dl_torch_tests.opinfo.gradients import COTANGENTS, cotangent
from dl_torch_tests.opinfo.relocate import Relocation
from dl_torch_tests.opinfo.sweep import Arguments, Call, describe, run, tensors_of
from dl_torch_tests.opinfo.written_forms import TARGETS

from .mutations import DTYPES, change_tensors, mutate
from .targets import Target

WHOLE = "whole"
"""Argument with the memory around a target of out=, so that stray writes are detected."""


@dataclass(frozen=True)
class FuzzCall:
    """A call with its arguments on the CPU.

    :ivar function: calls the operator with (input, args, kwargs), which it may write to.
    """

    target: Target
    number: int
    form: str
    arguments: Arguments
    function: Call

    @property
    def name(self) -> str:
        return f"{self.target.name}:{self.number}"

    def text(self) -> str:
        return f"{self.target.name} ({self.form}) {describe(self.arguments)}"


def draw_call(target: Target, samples: list[Arguments], seed: str, number: int) -> FuzzCall:
    """Return call ``number`` of the operator in the session of ``seed``."""
    draw = random.Random(f"{seed} {target.name} {number}")
    torch.manual_seed(draw.getrandbits(32))
    arguments = mutate(draw, draw.choice(samples))
    form = draw.choice(sorted(target.forms))
    operator = target.forms[form]
    if form == "gradient":
        drawn = _with_cotangents(operator, arguments)
        if drawn is not None:
            return FuzzCall(target, number, form, drawn, _gradients(operator))
        form = "function"
    if form == "out":
        arguments = _with_targets(draw, target, arguments)
        return FuzzCall(target, number, form, arguments, _out(operator))
    return FuzzCall(target, number, form, arguments, call_plainly(operator))


def call_plainly(operator: Callable[..., Any]) -> Call:
    """Return the operator as a function of (input, args, kwargs)."""

    def call(arguments: Arguments) -> Any:
        first, args, kwargs = arguments
        return operator(first, *args, **kwargs)

    return call


def _out(operator: Callable[..., Any]) -> Call:
    def call(arguments: Arguments) -> Any:
        first, args, kwargs = arguments
        wanted = {name: value for name, value in kwargs.items() if name != WHOLE}
        result = operator(first, *args, **wanted)
        pairs = zip(tree_flatten(result)[0], tree_flatten(kwargs["out"])[0], strict=False)
        return result, [got is want for got, want in pairs]

    return call


def _with_targets(draw: random.Random, operator: Target, arguments: Arguments) -> Arguments:
    """Return arguments with an ``out=`` that fits the result, or almost fits it."""
    expected = run(call_plainly(operator.forms["out"]), Relocation()(arguments))
    result = torch.empty(0) if expected.error is not None else expected.result
    inputs = [x for x in tensors_of(arguments) if x.layout == torch.strided]
    wholes: list[torch.Tensor] = []

    def target(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor) or leaf.layout != torch.strided:
            return leaf
        like = leaf.detach()
        way = draw.random()
        if way < 0.1:
            like = torch.zeros(like.shape, dtype=draw.choice(DTYPES))
        elif way < 0.15 and like.dim():
            like = torch.zeros((*like.shape[:-1], like.shape[-1] + 1), dtype=like.dtype)
        elif way < 0.2 and operator.elementwise:
            # A resized argument would no longer be the same tensor in both runs.
            fitting = [x for x in inputs if (x.shape, x.dtype) == (like.shape, like.dtype)]
            if fitting:
                return draw.choice(fitting)
        made, whole = draw.choice(sorted(TARGETS.items()))[1](like)
        # After resizing, the content of the remaining memory is undefined.
        if like.shape == leaf.shape:
            wholes.append(whole)
        return made

    first, args, kwargs = arguments
    return first, args, {**kwargs, "out": tree_map(target, result), WHOLE: wholes}


def differentiable(tree: Any) -> list[torch.Tensor]:
    """Return the tensors that require gradients."""
    return [x for x in tensors_of(tree) if x.requires_grad]


def _with_cotangents(operator: Callable[..., Any], arguments: Arguments) -> Arguments | None:
    """Return arguments that require gradients, with cotangents of the results; None without any."""

    def leaf(tensor: torch.Tensor) -> torch.Tensor:
        able = tensor.is_floating_point() or tensor.is_complex()
        return tensor.detach().requires_grad_(able)

    wanted = change_tensors(arguments, leaf)
    outcome = run(call_plainly(operator), Relocation()(wanted))
    outputs = differentiable(outcome.result)
    # An operator that writes to a leaf, or returns one, has no gradient.
    if outcome.error is not None or not outputs or not differentiable(wanted):
        return None
    first, args, kwargs = wanted
    return first, args, {**kwargs, COTANGENTS: [cotangent(output) for output in outputs]}


def _gradients(operator: Callable[..., Any]) -> Call:
    def call(arguments: Arguments) -> Any:
        first, args, kwargs = arguments
        wanted = {name: value for name, value in kwargs.items() if name != COTANGENTS}
        inputs = differentiable((first, args, wanted))
        outputs = differentiable(operator(first, *args, **wanted))
        return torch.autograd.grad(outputs, inputs, kwargs[COTANGENTS], allow_unused=True)

    return call
