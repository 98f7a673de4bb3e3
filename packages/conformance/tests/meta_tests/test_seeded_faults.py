"""The suite finds and locates each seeded fault, and reports no failure without it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from diopi_proto import Vendor
from dl_conformance.catalog import cases_of
from dl_conformance.execution import run
from dl_conformance.outcome import Outcome
from dl_conformance.target import of_vendor
from faults import Call, Fault, Faulty, narrowed


@pytest.fixture(scope="module")
def vendor() -> Iterator[Vendor]:
    with of_vendor("cpu")[0].load() as loaded:
        yield loaded


def after(name: str, change: Callable[[np.ndarray], Any]) -> Fault:
    """Return a fault that changes a right result."""

    def fault(call: Call) -> Any:
        returned = call.right()
        call.change(name, change)
        return returned

    return fault


def instead(**replaced: Any) -> Fault:
    """Return a fault that computes with different arguments."""
    return lambda call: call.right(**replaced)


def at(place: int, change: Callable[[Any], Any]) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that changes one element."""

    def changed(array: np.ndarray) -> np.ndarray:
        if array.size:
            array.reshape(-1)[place % array.size] = change(array.reshape(-1)[place % array.size])
        return array

    return changed


def dropped_tail(call: Call) -> None:
    before = call.array("out")
    call.right()
    call.change(
        "out", lambda x: np.concatenate([x.ravel()[:-3], before.ravel()[-3:]]).reshape(x.shape)
    )


def strides_swapped(call: Call) -> None:
    call.right()
    call.change("out", lambda x: x.ravel().reshape(x.shape[::-1]).T)


def in_place_not_done(call: Call) -> None:
    before = call.array("input")
    call.right()
    call.change("input", lambda x: before)


def input_modified(call: Call) -> None:
    call.right()
    call.change("other", at(0, lambda x: 5))


def next_index(call: Call) -> None:
    call.change("index", lambda x: np.maximum(x - 1, 0))
    call.right()


def returned_as(shape: Callable[[tuple[int, ...]], tuple[int, ...]], dtype: str | None) -> Fault:
    def fault(call: Call) -> Any:
        right = call.right()
        array = right.numpy().reshape(shape(right.shape))
        return call.vendor.tensor(array.astype(dtype or array.dtype))

    return fault


def saturated(call: Call) -> None:
    call.right()
    wide = call.array("input").astype(np.int64) + call.array("other")
    limits = np.iinfo(call.array("input").dtype)
    call.change("out", lambda x: np.clip(wide, limits.min, limits.max))


def low_accumulation(call: Call) -> None:
    call.right()
    x = call.array("input")
    call.change(
        "out",
        lambda y: np.cumsum(x, axis=1, dtype=np.float16)[:, -1] if x.shape == (2, 5000) else y,
    )


def other_dimension(call: Call) -> Any:
    return call.right(dim=0)


def last_of_equals(call: Call) -> None:
    call.right()
    x, dim = call.array("input"), call.passed["dim"]
    if dim == 1:
        call.change("out", lambda y: x.shape[1] - 1 - np.argmax(x[:, ::-1], axis=1))


def without_bias(call: Call) -> None:
    call.right(bias=None)


FAULTS: dict[str, tuple[str, str, Fault, str]] = {
    "one wrong element": ("diopiExp", "float32", after("out", at(7, lambda x: x * 1.001)), "out"),
    "last element wrong": ("diopiAdd", "float64", after("out", at(-1, lambda x: x + 1)), "out"),
    "dropped tail": ("diopiMul", "float32", dropped_tail, "out"),
    "nothing written": ("diopiSub", "int32", lambda call: None, "out"),
    "zeros": ("diopiMm", "float32", after("out", np.zeros_like), "out"),
    "swapped strides": ("diopiSin", "float32", strides_swapped, "out"),
    "wrong sign": ("diopiNeg", "float16", after("out", lambda x: -x), "out"),
    "absolute value": ("diopiSin", "bfloat16", after("out", np.abs), "out"),
    "rounded to a narrower dtype": ("diopiSqrt", "float32", after("out", narrowed), "out"),
    "one ulp of a copy": (
        "diopiPermute",
        "float32",
        after("out", at(2, lambda x: np.nextafter(x, np.float32(9)))),
        "out",
    ),
    "relative error everywhere": (
        "diopiTanh",
        "float64",
        after("out", lambda x: x * (1 + 1e-12)),
        "out",
    ),
    "accumulation in the low dtype": ("diopiSum", "float16", low_accumulation, "out"),
    "nan swallowed": ("diopiMaximum", "float32", after("out", np.nan_to_num), "out"),
    "infinity made finite": (
        "diopiAbs",
        "float64",
        after("out", lambda x: np.minimum(x, 1e308)),
        "out",
    ),
    "denormals flushed": (
        "diopiNeg",
        "float32",
        after("out", lambda x: np.where(np.abs(x) < 1.2e-38, 0, x)),
        "out",
    ),
    "in-place not done": ("diopiAddInp", "float32", in_place_not_done, "input"),
    "input modified": ("diopiAdd", "int64", input_modified, "other: the input was modified"),
    "index off by one": ("diopiIndexSelect", "float32", next_index, "out"),
    "dtype of what is returned": (
        "diopiNonzero",
        "float32",
        returned_as(lambda x: x, "int32"),
        "dtype is int32",
    ),
    "shape of what is returned": (
        "diopiNonzero",
        "int32",
        returned_as(lambda x: x[::-1], None),
        "shape is",
    ),
    "saturated integers": ("diopiAdd", "int8", saturated, "out"),
    "alpha ignored": ("diopiAdd", "float32", instead(alpha=1), "out"),
    "beta ignored": ("diopiAddmm", "float32", instead(beta=1.0), "out"),
    "bias ignored": ("diopiConvolution2d", "float32", without_bias, "out"),
    "momentum of another": ("diopiBatchNorm", "float32", instead(momentum=0.9), "running"),
    "epsilon ignored": ("diopiLayerNorm", "float32", instead(eps=0.0), "out"),
    "wrong gradient of one input": (
        "diopiConvolution2dBackward",
        "float32",
        after("grad_weight", lambda x: np.flip(x, -1)),
        "grad_weight",
    ),
    "gradient without its mean": (
        "diopiMSELossBackward",
        "float32",
        instead(reduction="sum"),
        "grad_input",
    ),
    "floor for truncation": ("diopiDiv", "int32", instead(rounding_mode="RoundModeFloor"), "out"),
    "descending ignored": ("diopiSort", "float32", instead(descending=False), "values"),
    "last of equals": ("diopiArgmax", "int8", last_of_equals, "out"),
    "other dimension": ("diopiSoftmax", "float32", other_dimension, "out"),
    "correction ignored": ("diopiStd", "float32", instead(correction=0), "out"),
    "ignored class counted": ("diopiNLLLoss", "float32", instead(ignore_index=-100), "out"),
    "padding value": ("diopiPad", "float32", instead(value=2.0), "out"),
    "rounds down to even": ("diopiFloor", "float64", after("out", lambda x: x - x % 2), "out"),
    "bounds exchanged": ("diopiClampScalar", "int32", instead(max=5), "out"),
    "frequency ignored": (
        "diopiEmbeddingBackward",
        "float32",
        instead(scale_grad_byfreq=False),
        "out",
    ),
}


def unsigned_zeros(array: np.ndarray) -> np.ndarray:
    return np.where(array == 0, np.abs(array), array)


def row_major(call: Call) -> Any:
    """Return right elements in another memory format than the requested one."""
    return call.vendor.tensor(call.right().numpy(), dtype=call.passed["input"].dtype.name)


UNSIGNED = after("out", unsigned_zeros)
FAULTS |= {
    "strides of what is returned": ("diopiContiguous", "float32", row_major, "strides are"),
    "negated zero without its sign": ("diopiNeg", "float32", UNSIGNED, "sign of zeros"),
    "floor of a negative zero": ("diopiFloor", "float16", UNSIGNED, "sign of zeros"),
    "negative zero lost in a copy": ("diopiCat", "float64", UNSIGNED, "sign of zeros"),
    "negative zero lost in a choice": ("diopiWhere", "bfloat16", UNSIGNED, "sign of zeros"),
    "clamped zero without its sign": ("diopiClampScalar", "float32", UNSIGNED, "sign of zeros"),
    "root of a negative zero": ("diopiSqrt", "float32", UNSIGNED, "sign of zeros"),
    "zero of a product": ("diopiMul", "float32", UNSIGNED, "sign of zeros"),
    "zero below a bound": (
        "diopiRelu",
        "float32",
        after("out", lambda x: np.where(x == 0, -0.0, x)),
        "sign of zeros",
    ),
}


def outcomes(vendor: Any, operator: str, dtype: str) -> list[Outcome]:
    """Return the outcomes of all cases except the calls of models, which are large."""
    small = [case for case in cases_of(operator) if not case.models]
    return [run(vendor, case) for case in small if case.dtype == dtype]


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_caught(vendor: Vendor, name: str) -> None:
    operator, dtype, fault, told = FAULTS[name]
    right = outcomes(vendor, operator, dtype)
    assert "passed" in {x.status for x in right}
    assert "failed" not in {x.status for x in right}
    wrong = [
        x
        for x in outcomes(Faulty(vendor, {operator: fault}), operator, dtype)
        if x.status == "failed"
    ]
    assert wrong, f"{name} in {operator} passes all {len(right)} cases"
    assert all(x.operator == operator for x in wrong)
    assert any(told in x.detail for x in wrong), wrong[0].detail


def test_there_are_thirty_faults() -> None:
    assert len(FAULTS) >= 30
