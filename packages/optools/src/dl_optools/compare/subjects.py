"""Computations that autocompare repeats on the CPU: an overload, a function, or its gradients.

A subject runs on a tree of arguments and returns its outputs as a flat list: the returned tensors,
then the written ones. The device's call yields the same list.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import torch
from torch._decomp import decomposition_table
from torch.utils._pytree import tree_leaves, tree_map

from diopi_proto.tolerance import OpClass
from diopi_proto.tolerance.torch_operators.op_classes import (
    Rule,
    base_name,
    combine_rules,
    indices_match_values,
    rule_for,
)
from diopi_proto.tolerance.torch_operators.schema import Overload, signature
from dl_optools.compare.equivalents import EQUIVALENTS
from dl_optools.compare.trace import Answers, RandomCallError, Trace, answers_of
from dl_optools.on_host import has_host_kernel
from dl_optools.tensors import tensors_of

Tree = Any


class NotComparableError(Exception):
    """A call has no reference; the message says why."""


class Subject(Protocol):
    """Operation with a reference.

    :ivar writes: :meth:`run` may write to the arguments.
    """

    writes: bool

    def run(self, tree: Tree) -> list[Any]:
        """Return the outputs for these arguments, which the subject may write to.

        :raises NotComparableError: they depend on random numbers, or on uninitialised memory.
        """

    def rules(self, tree: Tree, answers: Sequence[Any]) -> list[Rule]:
        """Return the rule by which each output is judged; call :meth:`run` first."""

    def settles(self, tree: Tree, answers: Sequence[Any], at: int) -> bool:
        """Return True if an output is right by a criterion other than its values."""


@functools.cache
def _substitute(overload: Overload[Any, Any]) -> Callable[..., Any] | None:
    """Return the CPU equivalent of a device-only overload; None: the overload itself runs."""
    if has_host_kernel(overload):
        return None
    return EQUIVALENTS.get(base_name(overload)) or decomposition_table.get(overload)


class OverloadSubject:
    """Overload of the dispatcher."""

    def __init__(self, overload: Overload[Any, Any]) -> None:
        self.overload = overload
        self.facts = signature(overload)
        self.writes = bool(self.facts.written)
        self._own_function = _substitute(overload)
        self._made: list[Rule] | None = None

    @property
    def is_substitute(self) -> bool:
        """Return True if the CPU runs an equivalent in its place."""
        return self._own_function is not None

    def run(self, tree: Tree) -> list[Any]:
        args, kwargs = tree
        with torch.no_grad():
            if self._own_function is None:
                result = self.overload(*args, **kwargs)
            else:
                with Trace() as trace:
                    result = self._own_function(*args, **kwargs)
                self._made = [combine_rules(trace.rules)]
        return [value for _, value in answers_of(self.facts, result, args, kwargs)]

    def rules(self, tree: Tree, answers: Sequence[Any]) -> list[Rule]:
        if self._made is not None:
            return self._made * len(answers)
        args, kwargs = tree
        returned = sum(owner is None for owner in self.facts.returned)
        lists = len(answers) != returned + len(self.facts.written)
        return [
            rule_for(
                self.overload, args, kwargs, answer, 0 if lists else (at if at < returned else -1)
            )
            for at, answer in enumerate(answers)
        ]

    def settles(self, tree: Tree, answers: Sequence[Any], at: int) -> bool:
        args, kwargs = tree
        pair = answers[:2]
        if at != 1 or len(pair) < 2 or not all(isinstance(x, torch.Tensor) for x in pair):
            return False
        return indices_match_values(self.overload, args, kwargs, pair[0], pair[1])


class FunctionSubject:
    """Function of torch's Python interface.

    :param written: indices, among the tensors of the arguments, of the tensors that it wrote to.
    :param autocast: the dtype that autocast computed in on the device, if it was on.
    """

    def __init__(
        self, function: Callable[..., Any], written: Sequence[int], autocast: torch.dtype | None
    ) -> None:
        self.function = function
        self.writes = True
        self.written = written
        self.autocast = autocast
        self._rule: Rule | None = None
        self._steps = 0

    def run(self, tree: Tree) -> list[Any]:
        args, kwargs = tree
        tensors = tensors_of(args, kwargs)
        with torch.no_grad(), self._trace_call(tree):
            result = self.function(*args, **kwargs)
        return [value for _, value in function_answers(result, tensors, self.written)]

    @contextlib.contextmanager
    def _trace_call(self, tree: Tree) -> Iterator[None]:
        try:
            with Trace() as trace, _cast_as(self.autocast, tree):
                yield
        except RandomCallError:
            raise NotComparableError("it draws random numbers") from None
        if trace.uninitialised and not trace.rules:
            raise NotComparableError("its result is uninitialised memory")
        self._rule = combine_rules(trace.rules, casts=0 if self.autocast is None else 3)
        self._steps = sum(rule.op_class is not OpClass.EXACT for rule in trace.rules)

    def may_keep(self, low: torch.dtype, tree: Tree) -> bool:
        """Return True if autocast may have left a part in the dtype of narrow arguments.

        Functions on autocast's lists are cast as a whole. In other functions autocast sees parts
        and casts some: for cross_entropy the last part to float32, but not the one before.
        """
        eps = torch.finfo(low).eps
        given = (x for x in tensors_of(tree) if x.is_floating_point())
        if self._steps < 2 or not any(torch.finfo(x.dtype).eps >= eps for x in given):
            return False
        name = f"aten::{getattr(self.function, '__name__', '')}"
        return name not in _cast_as_a_whole()

    def rules(self, tree: Tree, answers: Sequence[Any]) -> list[Rule]:
        return [self._rule or _default_rule(tree)] * len(answers)

    def settles(self, tree: Tree, answers: Sequence[Any], at: int) -> bool:
        return False


class GradientSubject(FunctionSubject):
    """Gradients of a function's inputs; the tree's third part holds the gradients of its outputs.

    :param wanted: indices, among the tensors of the arguments, whose gradients are compared.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        written: Sequence[int],
        autocast: torch.dtype | None,
        wanted: Sequence[int],
    ) -> None:
        super().__init__(function, written, autocast)
        self.wanted = wanted

    def run(self, tree: Tree) -> list[Any]:
        args, kwargs, incoming = tree
        leaves = {
            id(x): x.detach().requires_grad_() for x in tensors_of(args, kwargs) if x.requires_grad
        }
        inputs = [leaves[id(x)] for x in (tensors_of(args, kwargs)[at] for at in self.wanted)]

        def used(value: Any) -> Any:
            leaf = leaves.get(id(value))
            # In-place operators reject a leaf, but accept a result computed from one.
            return value if leaf is None else leaf.clone()

        clones: dict[int, Any] = {}

        def once(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            return clones.setdefault(id(value), used(value))

        with torch.enable_grad(), self._trace_call(tree):
            new_args, new_kwargs = tree_map(once, (args, kwargs))
            result = self.function(*new_args, **new_kwargs)
            outputs = outputs_of(result, tensors_of(new_args, new_kwargs), self.written)
            pairs = [
                (output, gradient)
                for output, gradient in zip(outputs, incoming, strict=False)
                if gradient is not None and output.requires_grad
            ]
            if not pairs:
                raise NotComparableError("on the CPU no output has a gradient")
            found = torch.autograd.grad(
                [output for output, _ in pairs],
                inputs,
                [gradient.to(output.dtype) for output, gradient in pairs],
                allow_unused=True,
            )
        return list(found)

    def rules(self, tree: Tree, answers: Sequence[Any]) -> list[Rule]:
        rule = self._rule or _default_rule(tree)
        # The contributions of all paths are summed, and may cancel each other.
        return [Rule(rule.op_class, rule.terms, rule.roundings, normwise=True)] * len(answers)


def outputs_of(
    result: Any, tensors: Sequence[torch.Tensor], written: Sequence[int]
) -> list[torch.Tensor]:
    """Return the tensors that a Python function created: returned ones, else those it wrote."""
    return tensors_of(result) or [tensors[at] for at in written]


def function_answers(
    result: Any, tensors: Sequence[torch.Tensor], written: Sequence[int]
) -> Answers:
    """Return the results of a Python function except written arguments, then those arguments."""
    changed = {id(tensors[at]) for at in written}
    leaves = [leaf for leaf in tree_leaves(result) if id(leaf) not in changed]
    found: Answers = [(f"output {at}", leaf) for at, leaf in enumerate(leaves)]
    return [*found, *((f"argument {at}", tensors[at]) for at in written)]


@functools.cache
def _cast_as_a_whole() -> frozenset[str]:
    """Return the operators on autocast's lists, shared by accelerators, by schema name."""
    registered = torch._C._dispatch_get_registrations_for_dispatch_key("AutocastCUDA")
    return frozenset(name.partition(".")[0] for name in registered)


def _default_rule(tree: Tree) -> Rule:
    """Return the rule of a function that never ran on the CPU: sums up to its largest argument."""
    return Rule(OpClass.REDUCTION, max((x.numel() for x in tensors_of(tree)), default=1))


@contextlib.contextmanager
def _cast_as(dtype: torch.dtype | None, tree: Tree) -> Iterator[None]:
    """Apply the device's autocast on the CPU; float64 arguments indicate a reference run."""
    wide = any(x.dtype == torch.float64 for x in tensors_of(tree))
    if dtype is None or wide:
        yield
        return
    with torch.autocast("cpu", dtype=dtype, cache_enabled=False):
        yield
