"""Arguments of the overloads of torch's dispatcher, recorded by running operators on the CPU.

The operators are OpInfo's, with their gradients, and the operators in this folder's own tables.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map_only

from diopi_proto.tolerance import OpClass
from dl_torch_tests.opinfo.gradients import cotangent
from dl_torch_tests.opinfo.operators import Judgement
from dl_torch_tests.opinfo.relocate import Relocation
from dl_torch_tests.opinfo.sweep import describe, tensors_of

from . import (
    test_composed_indexing,
    test_composed_normalization,
    test_composed_products,
    test_composed_reductions,
)
from .native import CASES

SAMPLES = 40
"""Maximum number of samples of each operator."""
KEPT = 4
"""Maximum number of calls of each overload."""
LARGEST = 50_000
"""Maximum number of elements of all arguments: more give no further information."""
HOME_DTYPES = (torch.float32, torch.int64, torch.bool)

Bound = dict[str, Any]
"""Arguments by parameter name; omitted ones have their defaults."""


@dataclass(frozen=True)
class Recorded:
    """One call of an overload, on the CPU, and the rule to judge its results."""

    bound: Bound
    judgement: Judgement


class Recorder(TorchDispatchMode):
    """Keeps the first calls of each overload that differ in shapes, dtypes or numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: dict[str, dict[str, Recorded]] = {}
        self.scalar_calls: dict[str, dict[str, Recorded]] = {}
        """Calls whose tensors have one element each, which are used only without others."""
        self.judgement = Judgement()

    def __torch_dispatch__(
        self, op: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if op.namespace == "aten":
            self._keep(op, args, kwargs)
        return op(*args, **kwargs)

    def _keep(self, op: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        outs = {argument.name for argument in op._schema.arguments if argument.is_out}
        tensors = tensors_of((args, {k: v for k, v in kwargs.items() if k not in outs}))
        largest = max((tensor.numel() for tensor in tensors), default=0)
        calls = self.calls if largest > 1 or not tensors else self.scalar_calls
        known = calls.setdefault(op.name().removeprefix("aten::"), {})
        bound = bind(op, args, kwargs)
        if (
            len(known) >= KEPT
            or any(map(_is_strange, tensors))
            or sum(tensor.numel() for tensor in tensors) > LARGEST
            or _has_plain_number(op, bound)
        ):
            return
        told = describe((None, args, dict(kwargs)))
        if told not in known:
            detached = tree_map_only(torch.Tensor, torch.Tensor.detach, bound)
            known[told] = Recorded(Relocation()(detached), self.judgement)


def _is_strange(tensor: torch.Tensor) -> bool:
    """Return True for tensors that are not dense or have no values; masks and reserves may be
    empty."""
    return tensor.layout != torch.strided or (tensor.is_floating_point() and tensor.numel() == 0)


def _has_plain_number(op: Any, bound: Bound) -> bool:
    """Return True if a Python number stands for a tensor, which only some overloads accept."""
    return any(
        str(argument.type) == "Tensor" and isinstance(bound.get(argument.name), (bool, int, float))
        for argument in op._schema.arguments
    )


def bind(op: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Bound:
    """Return the arguments by the parameter names of the overload's schema."""
    names = [argument.name for argument in op._schema.arguments]
    return dict(zip(names, args, strict=False)) | dict(kwargs)


@functools.cache
def recordings() -> Mapping[str, tuple[Recorded, ...]]:
    """Return all calls, by overload without ``aten::``."""
    recorder = Recorder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for op in (*CASES.values(), *op_db):
            _record_operator(recorder, op)
        recorder.judgement = Judgement(op_class=OpClass.REDUCTION, normwise=True)
        for call in _own_cases():
            torch.manual_seed(0)
            with recorder:
                call()
    every = recorder.scalar_calls | {name: calls for name, calls in recorder.calls.items() if calls}
    return {name: tuple(calls.values()) for name, calls in every.items()}


def _record_operator(recorder: Recorder, op: Any) -> None:
    dtype = next((each for each in HOME_DTYPES if each in op.dtypes), None)
    if dtype is None:
        return
    differentiable = dtype.is_floating_point and getattr(op, "supports_autograd", False)
    torch.manual_seed(0)
    samples = op.sample_inputs("cpu", dtype, requires_grad=differentiable)
    for sample in islice(samples, SAMPLES):
        judgement = Judgement.of(op)
        try:
            with recorder:
                recorder.judgement = judgement
                result = op(sample.input, *sample.args, **sample.kwargs)
                recorder.judgement = replace(judgement, op_class=OpClass.REDUCTION, normwise=True)
                _go_back(result, sample)
        except Exception:  # noqa: BLE001 - whatever an operator raises, others go on
            # Some samples have no result, or no gradient, on the CPU.
            continue


def _go_back(result: Any, sample: Any) -> None:
    outputs = [
        leaf
        for leaf in tree_flatten(getattr(sample, "output_process_fn_grad", _same)(result))[0]
        if isinstance(leaf, torch.Tensor) and leaf.requires_grad
    ]
    inputs = [
        tensor
        for tensor in tensors_of((sample.input, sample.args, sample.kwargs))
        if tensor.requires_grad
    ]
    if outputs and inputs:
        torch.autograd.grad(outputs, inputs, [cotangent(o) for o in outputs], allow_unused=True)


def _same(result: Any) -> Any:
    return result


def _own_cases() -> Iterator[Callable[[], Any]]:
    for tables in (test_composed_indexing.OUT_CASES, test_composed_reductions.FORMS):
        for on in tables.values():
            yield functools.partial(on, "cpu")
    for function, args, kwargs in test_composed_products.FORMS.values():
        narrow = Relocation(dtypes={torch.float64: torch.float32})
        yield functools.partial(function, *narrow(args), **kwargs)
    for case in test_composed_normalization.CASES:
        arguments = test_composed_normalization.on(case.arguments, "cpu", torch.float32)
        yield functools.partial(case.call, *arguments)
