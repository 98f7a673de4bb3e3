"""Factory functions convert their bounds to the dtype of the result, like torch's CPU.

Torch converts some bounds before it counts the elements, and others afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest
import torch

Call = Callable[[str], torch.Tensor]

INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
DTYPES = (
    *(None, torch.bool, *INTEGERS),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64),
)
BOUNDS = (0, 1, -1, 5, 3.5, -3.5, 0.5, -0.25, 2.999, 128, 255.5, 300, True, 1e-30)
FAR = (
    *BOUNDS,
    1e19,
    2**63 - 1,
    -(2**63),
    2**53 + 1,
    1e39,
    1e300,
    math.inf,
    -math.inf,
    math.nan,
    1j,
)
STEPS = (1, -1, 2, 0.5, -0.5, 2.5, 0, math.inf, math.nan, 7 / 3, True)
COUNTS = (0, 1, 2, 5, -1)
SMALL = (0, 1, -1, 3.5, -0.25, 4)

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def outcome(call: Call, device: str) -> Any:
    try:
        return call(device).cpu()
    except NotImplementedError:
        return None
    except (RuntimeError, TypeError, ValueError) as error:
        return type(error)


def problem(call: Call) -> str | None:
    """Describe how dl differs from the CPU. A vendor may support a dtype that the CPU lacks."""
    want, got = outcome(call, "cpu"), outcome(call, "dl")
    if want is None:
        return None
    if isinstance(want, type) or isinstance(got, type) or got is None:
        return None if got is want else f"{got}, the CPU {want}"
    if (got.dtype, got.shape) != (want.dtype, want.shape):
        return f"{got.dtype} {tuple(got.shape)}, the CPU {want.dtype} {tuple(want.shape)}"
    if not (want.is_floating_point() or want.is_complex()):
        same = torch.equal(got, want)
    else:
        # Torch's CPU computes in the dtype itself: differences are relative to the bounds.
        rtol = {torch.float16: 4e-3, torch.bfloat16: 3e-2, torch.float64: 1e-12}
        tolerance = rtol.get(want.dtype, 1e-5)
        largest = float(want.abs().nan_to_num(0, 0, 0).max()) if want.numel() else 0.0
        same = torch.allclose(got, want, tolerance, tolerance * largest, equal_nan=True)
    return None if same else f"{got.tolist()}, the CPU {want.tolist()}"


def ranges(name: str, dtype: torch.dtype | None) -> Iterator[tuple[str, Call]]:
    function = getattr(torch, name)
    for start, end, step in product(BOUNDS, BOUNDS, STEPS):
        if name == "range" and dtype in INTEGERS and abs(step) < 1:
            continue  # torch's CPU divides by zero
        yield (
            f"{name}({start}, {end}, {step}, dtype={dtype})",
            lambda d, a=(start, end, step): function(*a, dtype=dtype, device=d),
        )


def spaces(name: str, dtype: torch.dtype | None) -> Iterator[tuple[str, Call]]:
    function, bounds = getattr(torch, name), FAR if name == "linspace" else SMALL
    bases: tuple[Any, ...] = ((),)
    if name == "logspace":
        # Other bases give infinite or NaN elements, whose conversion to integers is undefined.
        bases = ((10.0,), (2.5,)) if dtype in INTEGERS else ((10.0,), (2.5,), (0.0,), (-2.0,))
    for start, end, count, base in product(bounds, bounds, COUNTS, bases):
        yield (
            f"{name}({start}, {end}, {count}, *{base}, dtype={dtype})",
            lambda d, a=(start, end, count, *base): function(*a, dtype=dtype, device=d),
        )


def fills(_: str, dtype: torch.dtype | None) -> Iterator[tuple[str, Call]]:
    for value in FAR:
        yield (
            f"full({value}, {dtype})",
            lambda d, v=value: torch.full((2,), v, dtype=dtype, device=d),
        )
        yield (
            f"fill_({value}, {dtype})",
            lambda d, v=value: torch.zeros(2, dtype=dtype, device=d).fill_(v),
        )


def integers(_: str, dtype: torch.dtype | None) -> Iterator[tuple[str, Call]]:
    """Yield integer ranges of a single element, and invalid ones."""
    lows = (0, -1, 127, 128, 255, 256, 300, -129, 2**24, 2**31 - 1, 2**31, -(2**63))
    for low, span in product(lows, (1, 0, -3)):
        yield (
            f"randint({low}, {low + span}, {dtype})",
            lambda d, a=(low, low + span): torch.randint(*a, (2,), dtype=dtype, device=d),
        )
    for n in (0, 1, 128, 129, 256, 257, -1):
        yield (
            f"randperm({n}, {dtype})",
            lambda d, n=n: torch.randperm(n, dtype=dtype, device=d).cpu().sort().values,
        )


def matrices(_: str, dtype: torch.dtype | None) -> Iterator[tuple[str, Call]]:
    for n, m in product((0, 1, 3, -1), repeat=2):
        yield f"eye({n}, {m}, {dtype})", lambda d, a=(n, m): torch.eye(*a, dtype=dtype, device=d)
        for offset in (0, 1, -2, 2**62):
            yield (
                f"tril_indices({n}, {m}, {offset}, {dtype})",
                lambda d, a=(n, m, offset): torch.tril_indices(*a, dtype=dtype, device=d),
            )
            yield (
                f"triu_indices({n}, {m}, {offset}, {dtype})",
                lambda d, a=(n, m, offset): torch.triu_indices(*a, dtype=dtype, device=d),
            )


KINDS = {
    "arange": ranges,
    "range": ranges,
    "linspace": spaces,
    "logspace": spaces,
    "full": fills,
    "randint": integers,
    "eye": matrices,
}


@pytest.mark.parametrize("name", KINDS)
def test_bounds_mean_what_they_mean_on_the_cpu(name: str) -> None:
    found = []
    for dtype in DTYPES:
        for what, call in KINDS[name](name, dtype):
            different = problem(call)
            if different is not None:
                found.append(f"{what}: {different}")
    assert not found, "\n".join(found[:8])


INTO: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "arange": lambda out: torch.arange(0.5, 4.2, 0.7, out=out),
    "arange of an integer": lambda out: torch.arange(6, out=out),
    "arange of nothing": lambda out: torch.arange(0, out=out),
    "range": lambda out: torch.range(0.5, 4.2, out=out),
    "linspace": lambda out: torch.linspace(0.5, 9.75, 6, out=out),
    "linspace from a negative number": lambda out: torch.linspace(-5, 3, 6, out=out),
    "linspace of one": lambda out: torch.linspace(3.5, 1e300, 1, out=out),
    "logspace": lambda out: torch.logspace(0.5, 1.75, 6, out=out),
    "eye": lambda out: torch.eye(2, 3, out=out),
    "full": lambda out: torch.full((2, 3), 3, out=out),
}
TARGETS: dict[str, Callable[[torch.dtype, str], torch.Tensor]] = {
    "empty": lambda dtype, d: torch.zeros(0, dtype=dtype, device=d),
    "six in rows": lambda dtype, d: torch.zeros(2, 3, dtype=dtype, device=d),
    "six apart": lambda dtype, d: torch.zeros(12, dtype=dtype, device=d)[::2],
    "six in columns": lambda dtype, d: torch.zeros(3, 2, dtype=dtype, device=d).t(),
    "another number": lambda dtype, d: torch.zeros(4, dtype=dtype, device=d),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", INTO)
def test_given_outputs_are_filled_as_on_the_cpu(name: str, target: str) -> None:
    found = []
    for dtype in DTYPES[1:]:
        assert dtype is not None
        different = problem(lambda d, dtype=dtype: INTO[name](TARGETS[target](dtype, d)))
        if different is not None:
            found.append(f"{dtype}: {different}")
    assert not found, "\n".join(found[:8])


LONG: dict[str, Call] = {
    "to the last integer": lambda d: torch.arange(2**63 - 3, 2**63 - 1, device=d),
    "from the first integer": lambda d: torch.arange(-(2**63), -(2**63) + 3, 2, device=d),
    "beyond the precision of double": lambda d: torch.arange(2**53 + 1, 2**53 + 4, device=d),
    "fractions of torch.int64": lambda d: torch.arange(0, 7 / 2, dtype=torch.int64, device=d),
    "fractions of torch.int32": lambda d: torch.arange(0, 7 / 2, dtype=torch.int32, device=d),
    "fractional steps": lambda d: torch.arange(0, 10, 2.5, dtype=torch.int64, device=d),
    "fractional steps of int32": lambda d: torch.arange(0, 10, 2.5, dtype=torch.int32, device=d),
    "wrapped bytes": lambda d: torch.linspace(-1, 5, 4, dtype=torch.uint8, device=d),
}


@pytest.mark.parametrize("name", LONG)
def test_sequence_of_integers_is_that_of_the_cpu(name: str) -> None:
    assert torch.equal(LONG[name]("dl").cpu(), LONG[name]("cpu"))


def test_steps_that_are_zero_in_an_integer_dtype_are_refused() -> None:
    for function in (torch.arange, torch.range):
        with pytest.raises((RuntimeError, ValueError), match="step must be nonzero"):
            function(0, 3, 0.5, dtype=torch.int64, device="dl")
