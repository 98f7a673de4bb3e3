"""Tests of every operator with other shapes: rejected calls write nothing, accepted ones are right.

The bytes around all tensors and between their elements are noise, which may neither change nor
affect results.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

from calls import Call, Shape, TensorSpec, calls_of
from diopi_proto import OperatorError, StrayWriteError, Vendor
from support import Array, guard, operators


def other_shapes(shape: Shape) -> Iterator[Shape]:
    """Yield the shape with another size of a dimension, without a dimension, and with one more."""
    for d, size in enumerate(shape):
        for other in {0, 1, size + 1} - {size}:
            yield (*shape[:d], other, *shape[d + 1 :])
    if shape:
        yield shape[1:]
        yield ()
    yield (1, *shape)
    yield (2, *shape)
    yield (0, *shape)


def with_one_changed(call: Call) -> Iterator[Call]:
    """Yield the call with one tensor of another shape, absent, or with other strides."""
    for name, position, tensor in call.tensors():
        parameter = call.operator.parameter(name)
        if parameter.nullable if position is None else parameter.nullable_entries:
            yield call.with_tensor(name, position, None)
        for layout in ("transposed", "sliced", "repeated"):
            if layout != "repeated" or not tensor.written:
                yield call.with_tensor(name, position, replace(tensor, layout=layout))
        for shape in other_shapes(tensor.shape):
            if tensor.csr and len(shape) != 2:
                continue  # the tensor is absent
            values = None if tensor.values is None else 0
            changed = replace(tensor, shape=shape, values=values)
            yield call.with_tensor(name, position, changed)


LONG = 67
"""Longer than a vector of any dtype, and not a multiple of one."""


def with_all_changed(call: Call) -> Iterator[Call]:
    """Yield calls in which every dimension of one size gets another size, in all tensors."""
    sizes = {size for _, _, tensor in call.tensors() for size in tensor.shape}
    for old in sorted(sizes):
        for new in (0, 1, LONG):
            if new == old or any(
                enlarged(tensor.shape, old, new) for _, _, tensor in call.tensors()
            ):
                continue
            changed = call
            for name, position, tensor in call.tensors():
                shape = tuple(new if size == old else size for size in tensor.shape)
                values = None if tensor.values is None else 0
                given = replace(tensor, shape=shape, values=values)
                changed = changed.with_tensor(name, position, given)
            yield changed
    for layout in ("transposed", "sliced"):
        changed = call
        for name, position, tensor in call.tensors():
            changed = changed.with_tensor(name, position, replace(tensor, layout=layout))
        yield changed


def enlarged(shape: Shape, old: int, new: int) -> bool:
    """Return True if the shape would make the test slow."""
    return math.prod(new if size == old else size for size in shape) > 10_000


MANY_TO_ONE = {
    "diopiScatter": "src",
    "diopiScatterInp": "src",
    "diopiIndexPut": "values",
    "diopiIndexPutInp": "values",
    "diopiGatherBackward": "grad_output",
    "diopiIndexBackward": "grad_output",
    "diopiIndexSelectBackward": "grad",
    "diopiSortBackward": "grad_output",
}
"""Operators that leave the winner or the order of several writes to a position unspecified: their
values are equal."""


def settled(call: Call) -> Call:
    name = MANY_TO_ONE.get(call.operator.name)
    if name is None:
        return call
    return call.with_tensor(name, None, replace(call.arguments[name], values=np.array(1)))


def variants(call: Call) -> Iterator[Call]:
    yield call
    yield from with_one_changed(call)
    yield from with_all_changed(call)


def describe(call: Call) -> str:
    """Return the call in one line, with shapes for tensors."""

    def one(value: object) -> str:
        if isinstance(value, TensorSpec):
            layout = "" if value.layout == "dense" else f" {value.layout}"
            return f"{value.dtype}{list(value.shape)}{layout}"
        return f"[{', '.join(map(one, value))}]" if isinstance(value, list) else repr(value)

    return ", ".join(f"{name}={one(value)}" for name, value in call.arguments.items())


KEPT = {
    "diopiBatchNorm": ("training", {"save_mean None", "save_invstd None"}),
    "diopiDropout": ("train", {"mask None"}),
    "diopiDropoutInp": ("train", {"mask None"}),
}
"""Outputs that are not written if an argument is false."""

WORKSPACE = {
    "diopiCarafeMmcv": {"routput None", "rmasks None"},
    "diopiCarafeBackwardMmcv": {
        f"{name} None" for name in ("rtop_grad", "rbottom_grad_hs", "rbottom_grad", "rmask_grad")
    },
}
"""Outputs whose contents the contract leaves undefined."""


def unwritten_outputs(call: Call) -> set[str]:
    if call.operator.name in WORKSPACE:
        return WORKSPACE[call.operator.name]
    argument, outputs = KEPT.get(call.operator.name, ("", set()))
    return set() if call.arguments.get(argument, True) else outputs


@pytest.mark.parametrize("name", operators())
def test_other_shapes_are_rejected_or_computed(vendor: Vendor, name: str) -> None:
    taken = 0
    for call in calls_of(name):
        for changed in variants(settled(call)):
            guard(vendor, salt=0)
            try:
                first = changed.results(vendor, garbage=1)
            except OperatorError:
                continue  # and the guard has checked that nothing was written
            except StrayWriteError as error:
                pytest.fail(f"{error}: {describe(changed)}")
            # Independent of the bytes around the tensors and of the initial contents of outputs.
            guard(vendor, salt=77)
            second = changed.results(vendor, garbage=2)
            taken += 1
            for key in first.keys() - unwritten_outputs(changed):
                same = first[key].tobytes() == second[key].tobytes()
                assert same, (
                    f"{key} depends on its initial contents or surroundings: {describe(changed)}"
                )
    assert taken > 0


NOTHING_LARGE = {
    "diopiNormalize": (2, 3),
    "diopiNormalizeBackward": (2, 3),
    "diopiInstanceNorm": (2, 4),
    "diopiCTCLoss": (3, 1),
    "diopiCTCLossBackward": (3, 1),
    "diopiFlashAttentionBackward": (1, 3),
    "dlopAttentionBackward": (1, 3),
}
"""A size in the first call of an operator that becomes huge, and one that becomes 0."""


@pytest.mark.parametrize("name", NOTHING_LARGE)
def test_huge_dimensions_of_nothing_cost_nothing(vendor: Vendor, name: str) -> None:
    huge, nothing = NOTHING_LARGE[name]
    changed = calls_of(name)[0]
    for parameter, position, tensor in changed.tensors():
        sizes = (1 << 40 if n == huge else 0 if n == nothing else n for n in tensor.shape)
        values = None if tensor.values is None else 0
        given = replace(tensor, shape=tuple(sizes), values=values)
        changed = changed.with_tensor(parameter, position, given)
    with suppress(OperatorError):
        changed.run(vendor)


@pytest.mark.parametrize("name", sorted(KEPT))
def test_outputs_that_are_not_written_stay_as_they_are(vendor: Vendor, name: str) -> None:
    calls = [call for call in calls_of(name) if unwritten_outputs(call)]
    assert calls
    for call in calls:
        found = {key for key, array in call.results(vendor).items() if untouched(call, key, array)}
        assert found == unwritten_outputs(call)


def untouched(call: Call, key: str, array: Array) -> bool:
    parameter = key.removesuffix(" None")
    at = list(call.arguments).index(parameter)
    return np.array_equal(array, call.arguments[parameter].array(100 + at))
