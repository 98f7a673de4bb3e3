"""Tables of unary functions, and checks of their entries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from diopi_proto import Vendor
from diopi_proto.tolerance import OpClass
from support import check, exact, numbers, out_like, place, units_of_last_place

Reference = Callable[[Any], Any]


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


class Function(NamedTuple):
    """A function of floats, and the range of its inputs."""

    reference: Reference
    op_class: OpClass
    low: float
    high: float


class Step(NamedTuple):
    """A function with exact results, and its dtypes."""

    reference: Reference
    dtypes: tuple[str, ...]
    in_place: bool = True


class Range(NamedTuple):
    """The domain of a function, and its largest error there in units in the last place."""

    reference: Reference
    low: float
    high: float
    bound: float


def check_function(vendor: Vendor, name: str, function: Function, dtype: str, layout: str) -> None:
    """Compare the function and its in-place form with its reference."""
    reference, op_class, low, high = function
    x, values = place(vendor, numbers((3, 5, 37), dtype, 1, low, high), dtype, layout)
    out = out_like(vendor, (3, 5, 37), dtype, layout)
    vendor.op[f"diopi{name}"](out, x)
    check(out, reference(values), op_class, name)
    vendor.op[f"diopi{name}Inp"](x)
    assert np.array_equal(x.numpy(), out.numpy())


def check_many_elements(vendor: Vendor, name: str, function: Function) -> None:
    """Compare the function with its reference for tensors that threads share."""
    reference, op_class, low, high = function
    x, values = place(vendor, numbers((100_003,), "float32", 2, low, high), "float32")
    out = out_like(vendor, (100_003,), "float32")
    vendor.op[f"diopi{name}"](out, x)
    check(out, reference(values), op_class, name)


def check_step(vendor: Vendor, name: str, step: Step, dtype: str, layout: str) -> None:
    """Compare the function and its in-place form with its reference, exactly."""
    x, values = place(vendor, numbers((4, 33), dtype, 3, -9, 9), dtype, layout)
    out = out_like(vendor, (4, 33), dtype, layout)
    vendor.op[f"diopi{name}"](out, x)
    check(out, step.reference(values), OpClass.EXACT, name)
    if step.in_place:
        vendor.op[f"diopi{name}Inp"](x)
        assert np.array_equal(x.numpy(), out.numpy())


def check_limits(vendor: Vendor, name: str, reference: Reference, dtype: str) -> None:
    """Check the results for NaN, infinities and zeros of both signs."""
    x, values = place(vendor, np.array([np.nan, np.inf, -np.inf, 0.0, -0.0]), dtype)
    out = out_like(vendor, (5,), dtype)
    vendor.op[f"diopi{name}"](out, x)
    with np.errstate(all="ignore"):
        check(out, reference(values), OpClass.EXACT, name)


def check_signs_of_zeros(vendor: Vendor, name: str, dtype: str) -> None:
    """Zeros keep their sign, also in vectorized code."""
    x, values = place(vendor, np.array([0.0, -0.0] * 40), dtype)
    out = out_like(vendor, (80,), dtype)
    vendor.op[f"diopi{name}"](out, x)
    got = exact(out.numpy(), dtype)
    assert not got.any()
    assert np.array_equal(np.signbit(got), np.signbit(values))


def check_whole_range(vendor: Vendor, name: str, whole: Range) -> None:
    """Bound the error over all exponents, compared with float64."""
    reference, low, high, bound = whole
    # Evenly spaced bit patterns, which include every exponent and subnormal numbers.
    x = np.arange(0, 1 << 32, 2027, dtype=np.uint64).astype(np.uint32).view(np.float32)
    x = x[np.isfinite(x) & (x >= low) & (x <= high)]
    out = out_like(vendor, x.shape, "float32")
    vendor.op[f"diopi{name}"](out, vendor.tensor(x))
    with np.errstate(divide="ignore", over="ignore"):
        want = reference(x.astype(np.float64))
        rounded = want.astype(np.float32)
    got = out.numpy()
    finite = np.isfinite(rounded)
    assert np.array_equal(got[~finite], rounded[~finite])
    unit = units_of_last_place(rounded[finite])
    error = np.abs(got[finite].astype(np.float64) - want[finite]) / unit
    # A GPU uses its own library's functions; CUDA documents errors of up to 4 units.
    most = bound if vendor.host_accessible else 4.0
    assert error.max() <= most, f"{error.max()} at {x[finite][error.argmax()]!r}"


def check_outside_of_domain(vendor: Vendor, name: str, whole: Range) -> None:
    """Check the results outside the domain."""
    x = np.array([np.nan, np.inf, -np.inf, 1.5, -2.0, 0.0], np.float32)
    out = out_like(vendor, x.shape, "float32")
    vendor.op[f"diopi{name}"](out, vendor.tensor(x))
    with np.errstate(all="ignore"):
        want = whole.reference(x.astype(np.float64)).astype(np.float32)
    assert np.array_equal(np.isnan(out.numpy()), np.isnan(want))
    assert np.allclose(out.numpy(), want, rtol=1e-6, atol=0, equal_nan=True)
