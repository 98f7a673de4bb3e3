"""Outputs of an overload, and the tolerance rules of the overloads that a function calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch.utils._pytree import tree_leaves

from diopi_proto.tolerance.torch_operators.op_classes import Rule, draws, is_uninitialised, rule_for
from diopi_proto.tolerance.torch_operators.schema import Signature, signature
from dl_optools.mode_stack import WithMode
from dl_optools.tensors import tensors_of

Answers = list[tuple[str, Any]]


def answers_of(
    facts: Signature, result: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Answers:
    """Return the new tensors of an overload's result, then the arguments that it wrote to."""
    parts = [result] if len(facts.returned) == 1 else list(result or ())
    found: Answers = []
    for at, (part, owner) in enumerate(zip(parts, facts.returned, strict=False)):
        if owner is None:
            leaves = tree_leaves(part)
            for index, leaf in enumerate(leaves):
                found.append((f"output {at}" + (f"[{index}]" if len(leaves) > 1 else ""), leaf))
    bound = facts.bind(args, kwargs)
    for name in facts.names:
        if name in facts.written:
            tensors = tensors_of(bound.get(name))
            for index, tensor in enumerate(tensors):
                label = f"argument {name}" + (f"[{index}]" if len(tensors) > 1 else "")
                found.append((label, tensor))
    return found


class RandomCallError(Exception):
    """The function calls an overload that draws random numbers."""


class Trace(WithMode):
    """Dispatch mode that records the tolerance rule of each overload that runs under it.

    A random overload raises :class:`RandomCallError` instead of drawing numbers from the program's
    generator.
    """

    def __init__(self) -> None:
        super().__init__()
        self.rules: list[Rule] = []
        self.uninitialised = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        facts = signature(func)
        if draws(func, args, kwargs):
            raise RandomCallError(str(func))
        result = func(*args, **kwargs)
        if is_uninitialised(func):
            self.uninitialised = True
        elif not facts.view:
            rules = [
                rule_for(func, args, kwargs, value, at)
                for at, (_, value) in enumerate(answers_of(facts, result, args, kwargs))
            ]
            # Record one rule per call: the one with the longest sum.
            judged = [rule for rule in rules if rule.judged]
            if judged:
                self.rules.append(max(judged, key=lambda rule: rule.terms))
        return result
