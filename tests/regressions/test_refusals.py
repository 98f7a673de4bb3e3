"""Arguments that torch's CPU rejects are rejected on dl, with an error of the same type.

The arguments come from torch's own list of invalid arguments, and from valid arguments of which one
is changed (refusals.py). A vendor may compute calls for which torch's CPU merely lacks a kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch.nn import functional
from torch.testing._internal.common_methods_invocations import op_db

from dl_core import _C
from dl_torch_tests.opinfo.operators import CPU_ARGUMENTS, full_name
from dl_torch_tests.opinfo.sweep import Arguments, Outcome, describe, tensors_of

from .refusals import call, mutations

# Many operators of torch emit deprecation warnings.
pytestmark = pytest.mark.filterwarnings("ignore")

OTHER_TYPE = {
    "narrow_copy": "an assertion of the CPU's kernel; other devices raise IndexError",
    "renorm": "dl refuses a number that float32 does not hold, as the CPU does elsewhere",
}

LATE = "detected at a synchronization of the stream"
"""Part of errors that a device finds in its data. They are IndexError for indices, where some
operators of torch's CPU raise RuntimeError."""

CPU_ONLY = ("on CPU", "on cpu", "not supported on the CPU")
"""Marks of errors that only the CPU raises."""


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def host_accessible() -> bool:
    """Return True if dl:0 uses host memory, and finds errors in data during the call."""
    return bool(_C.device_info(0)["host_accessible"])


def problem(cpu: Outcome, got: Outcome) -> str | None:
    """Return what is wrong with dl's reaction to arguments, given the CPU's, or None."""
    if cpu.error is None:
        return None if got.error is None else f"raises {_describe(got)}, the CPU computes"
    lacks_kernel = isinstance(cpu.error, NotImplementedError)
    if lacks_kernel or any(text in str(cpu.error) for text in CPU_ONLY):
        refused = got.error is None or isinstance(got.error, RuntimeError)
        return None if refused else f"raises {_describe(got)}, the CPU {_describe(cpu)}"
    if got.error is None:
        return f"computes, the CPU raises {_describe(cpu)}"
    same = type(got.error) is type(cpu.error) or (
        LATE in str(got.error) and isinstance(cpu.error, (IndexError, RuntimeError))
    )
    return None if same else f"raises {_describe(got)}, the CPU {_describe(cpu)}"


def _describe(outcome: Outcome) -> str:
    error = outcome.error
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"


def wrong_arguments(op: Any) -> Iterator[Arguments]:
    """Yield torch's own invalid arguments that the CPU rejects."""
    for given in op.error_inputs("cpu"):
        sample = given.sample_input
        arguments = (sample.input, tuple(sample.args), dict(sample.kwargs))
        if all(tensor.device.type == "cpu" for tensor in tensors_of(arguments)):
            yield arguments


def problems(op: Any, every: Iterator[tuple[str, Arguments]]) -> Iterator[str]:
    for what, arguments in every:
        found = problem(call(op, arguments, "cpu"), call(op, arguments, "dl"))
        if found is not None and op.name not in OTHER_TYPE:
            yield f"{what} {describe(arguments)}: {found}"


REFUSING = [op for op in op_db if op.error_inputs_func is not None]


@pytest.mark.parametrize("op", REFUSING, ids=full_name)
def test_arguments_of_torchs_list_are_refused(op: Any) -> None:
    every = ((f"wrong arguments {at}", each) for at, each in enumerate(wrong_arguments(op)))
    found = list(problems(op, every))
    assert not found, "\n".join(found)


SPOILED = [op for op in op_db if op.name not in CPU_ARGUMENTS and "sparse" not in op.name]


@pytest.mark.sampled
@pytest.mark.parametrize("op", SPOILED, ids=full_name)
def test_spoiled_arguments_are_refused_as_on_the_cpu(op: Any) -> None:
    found = list(problems(op, mutations(op)))
    assert not found, "\n".join(found[:8])


def ones(device: str, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.ones(2, 2, dtype=dtype, device=device)


def number(device: str, dtype: torch.dtype) -> torch.Tensor:
    return torch.empty((), dtype=dtype, device=device)


Call = Callable[[str], Any]

NAMED: dict[str, Call] = {
    "heaviside of two dtypes": lambda d: torch.heaviside(ones(d), ones(d, torch.int64)),
    "heaviside_ of two dtypes": lambda d: ones(d).heaviside_(ones(d, torch.float64)),
    "isposinf into floats": lambda d: torch.isposinf(ones(d), out=ones(d)),
    "isneginf into integers": lambda d: torch.isneginf(ones(d), out=ones(d, torch.int64)),
    "shifted floats": lambda d: torch.bitwise_left_shift(ones(d), ones(d)),
    "floats shifted by a number": lambda d: ones(d) >> 1,
    "lerp to another dtype": lambda d: torch.lerp(ones(d), ones(d, torch.float64), 0.5),
    "lerp by another dtype": lambda d: torch.lerp(ones(d), ones(d), ones(d, torch.float64)),
    "lerp of integers": lambda d: torch.lerp(ones(d, torch.int64), ones(d, torch.int64), 0.5),
    "histogram into another dtype": lambda d: torch.histogram(
        ones(d), 4, out=(torch.empty(4, dtype=torch.float64, device=d), torch.empty(5, device=d))
    ),
    "nansum into integers": lambda d: torch.nansum(ones(d), out=number(d, torch.int64)),
    "addr with a boolean": lambda d: torch.addr(ones(d), ones(d)[0], ones(d)[0], beta=True),
    "addr of integers with a fraction": lambda d: torch.addr(
        ones(d, torch.int64), ones(d, torch.int64)[0], ones(d, torch.int64)[0], alpha=0.5
    ),
    "softshrink by a negative amount": lambda d: functional.softshrink(ones(d), -0.5),
    "softshrink by infinity less": lambda d: functional.softshrink(ones(d), -torch.inf),
    "weights of classes in a column": lambda d: functional.nll_loss(
        ones(d), torch.zeros(2, dtype=torch.int64, device=d), weight=ones(d)[:, :1]
    ),
    "weights of classes in a row": lambda d: functional.cross_entropy(
        ones(d), torch.zeros(2, dtype=torch.int64, device=d), weight=ones(d)[:1]
    ),
    "a row of an empty matrix": lambda d: ones(d)[:0][torch.tensor([0], device=d)].sum().item(),
    "an element of an empty row": lambda d: (
        ones(d)[:, :0][:, torch.tensor([0], device=d)].sum().item()
    ),
    "padding that cuts off too much": lambda d: functional.pad(ones(d), (1, -4)),
    "padding that leaves a negative size": lambda d: functional.pad(ones(d), (-2, -1)),
    "the largest of no complex numbers": lambda d: torch.max(ones(d, torch.complex64)[:0], 1),
    "argmin of no complex numbers": lambda d: torch.argmin(ones(d, torch.complex64)[:, :0], 0),
    "a target above one": lambda d: functional.binary_cross_entropy(ones(d), ones(d) * 1.5).item(),
    "a target below zero": lambda d: functional.binary_cross_entropy(ones(d), -ones(d)).item(),
    "a NaN target": lambda d: functional.binary_cross_entropy(ones(d), ones(d) * torch.nan).item(),
    "slopes drawn from minus infinity": lambda d: torch.rrelu(
        -ones(d), -torch.inf, 1.0, training=True
    ),
    "labels of another integer type": lambda d: functional.multilabel_margin_loss(
        ones(d), torch.zeros(2, 2, dtype=torch.int32, device=d)
    ),
    "labels far below zero": lambda d: functional.multilabel_margin_loss(
        ones(d), torch.full((2, 2), torch.iinfo(torch.int64).min, device=d)
    ),
    "dimensions of a hash out of range and repeated": lambda d: torch.hash_tensor(
        ones(d), dim=[0, 1, -2, 3]
    ),
    "a copy of two elements into none": lambda d: torch.empty(0, device=d).copy_(
        torch.ones(2, device=d)
    ),
    "a copy of two elements into none of the host": lambda d: torch.empty(0).copy_(
        torch.ones(2, device=d)
    ),
    "a copy of two elements of the host into none": lambda d: torch.empty(0, device=d).copy_(
        torch.ones(2)
    ),
    "attention with negative dropout": lambda d: functional.scaled_dot_product_attention(
        *[torch.ones(1, 1, 2, 4, device=d)] * 3, dropout_p=-0.5
    ),
    "running statistics in a row": lambda d: functional.batch_norm(
        ones(d), ones(d)[:1], ones(d)[0], training=True
    ),
    "fewer factors than reflectors": lambda d: torch.ormqr(ones(d), ones(d)[0, :1], ones(d)),
    "a row added to a scalar": lambda d: torch.index_add(
        ones(d)[0, 0], 0, torch.tensor([0], device=d), ones(d)[0, :1]
    ),
    "values of more dimensions than the indexed elements": lambda d: ones(d).index_put_(
        (torch.tensor([0], device=d),), ones(d)[None, :1]
    ),
    "more elements than indices": lambda d: ones(d).put_(torch.tensor([0], device=d), ones(d)),
    "fractional windows without a cell to spare": lambda d: functional.fractional_max_pool3d(
        torch.ones(1, 1, 5, 4, 5, device=d), 2, output_size=(2, 3, 2)
    ),
    "lerp by tensors into doubles": lambda d: torch.lerp(
        ones(d), ones(d), ones(d), out=ones(d, torch.float64)
    ),
    "bytes from a fraction below zero": lambda d: torch.linspace(
        -0.5e3, 5, 4, dtype=torch.uint8, device=d
    ),
    "float16 to a number out of its range": lambda d: torch.linspace(
        0, 1e6, 4, dtype=torch.float16, device=d
    ),
    "indices of a triangle in another layout": lambda d: torch.tril_indices(
        2, 2, layout=torch.sparse_coo, device=d
    ),
    "a boolean minus a number": lambda d: ones(d, torch.bool) - 1,
    "a number minus a boolean": lambda d: 1 - ones(d, torch.bool),
    "a boolean minus another": lambda d: ones(d, torch.bool) - ones(d, torch.bool),
    "a negated boolean": lambda d: -ones(d, torch.bool),
    "argmax of booleans": lambda d: ones(d, torch.bool).argmax(),
    "isin into floats": lambda d: torch.isin(ones(d), ones(d), out=ones(d)),
    "huber_loss of two dtypes": lambda d: functional.huber_loss(ones(d, torch.int64), ones(d)),
    "a sum over 65 dimensions": lambda d: torch.ones([1] * 65, device=d).amax(0),
    "a factor beyond float32": lambda d: torch.addmm(ones(d), ones(d), ones(d), alpha=1e300),
    "a bound beyond float32": lambda d: functional.hardtanh(ones(d), -1e300, 1e300),
    "bytes with a factor that is none": lambda d: ones(d, torch.int8).add(
        ones(d, torch.int8), alpha=300
    ),
    "bytes plus products by no byte": lambda d: ones(d, torch.uint8).addcmul(
        ones(d, torch.uint8), ones(d, torch.uint8), value=300
    ),
    "a power of bytes by no byte": lambda d: ones(d, torch.int8) ** 300,
    "gcd of floats": lambda d: torch.gcd(ones(d), ones(d)),
    "softplus of integers": lambda d: functional.softplus(ones(d, torch.int64)),
    "glu of integers": lambda d: functional.glu(ones(d, torch.int64)),
    "integers rounded to digits": lambda d: ones(d, torch.int64).round(decimals=-1),
    "a result over the index": lambda d: (
        lambda i: torch.gather(torch.arange(3, device=d), 0, i[1:], out=i[:1])
    )(torch.tensor([0, 1, 2], device=d)),
}


@pytest.mark.parametrize("name", NAMED)
def test_call_is_refused_as_on_the_cpu(name: str) -> None:
    with pytest.raises((IndexError, RuntimeError, TypeError, ValueError)) as cpu:
        NAMED[name]("cpu")
    with pytest.raises(cpu.type) as got:
        NAMED[name]("dl")
    assert got.type is cpu.type


RIGHT: dict[str, Call] = {
    "a factor beyond float32 of doubles": lambda d: ones(d, torch.float64).addcmul(
        ones(d, torch.float64), ones(d, torch.float64), value=1e300
    ),
    "a comparison with a number beyond float32": lambda d: ones(d) < 1e300,
    "an infinite bound": lambda d: functional.hardtanh(ones(d), -torch.inf, torch.inf),
    "a product into doubles": lambda d: torch.mul(ones(d), 2.0, out=ones(d, torch.float64)),
    "a square into doubles": lambda d: torch.square(ones(d), out=ones(d, torch.float64)),
    "degrees into doubles": lambda d: torch.deg2rad(ones(d), out=ones(d, torch.float64)),
    "labels of one class without dimensions": lambda d: functional.multilabel_margin_loss(
        ones(d)[0, :1], torch.tensor(0, device=d)
    ),
    "huber_loss of two widths": lambda d: functional.huber_loss(
        ones(d, torch.float64), ones(d) * 3
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_call_is_taken_as_on_the_cpu(name: str) -> None:
    torch.testing.assert_close(RIGHT[name]("dl").cpu(), RIGHT[name]("cpu"))


def test_errors_of_inner_operators_name_the_called_operator() -> None:
    def add() -> None:
        x = torch.zeros(4, device="dl")
        x.index_add_(0, torch.tensor([9], device="dl"), torch.ones(1, device="dl"))
        torch.dl.synchronize()

    with pytest.raises(IndexError, match="index 9") as told:
        add()
    # A late error names the inner operator.
    expected = LATE if LATE in str(told.value) else "index out of range in self"
    assert expected in str(told.value)
    if host_accessible():
        assert expected != LATE


@pytest.mark.vendor("cpu")
def test_arguments_that_crash_torchs_cpu_are_reported_by_the_vendor() -> None:
    """Errors match torch's where torch's kernels check the arguments; these kernels do not."""
    probabilities = torch.zeros(10, 1, 5, device="dl").log_softmax(2)
    far = torch.tensor([[1, 2, 500_000_000]], device="dl")
    with pytest.raises(RuntimeError, match="500000000"):
        functional.ctc_loss(probabilities, far, (10,), (3,))
    for dtype in (torch.int32, torch.int64):
        least = torch.tensor([torch.iinfo(dtype).min, 1], dtype=dtype, device="dl")
        by = torch.tensor([-1, 0], dtype=dtype, device="dl")
        for mode in ("trunc", "floor"):
            with pytest.raises(RuntimeError, match=r"(?i)zero"):
                torch.div(least, by, rounding_mode=mode)
        for function in (torch.remainder, torch.fmod, torch.floor_divide):
            with pytest.raises(RuntimeError, match=r"(?i)zero"):
                function(least, by)
    with pytest.raises(RuntimeError, match="LU_pivots is empty"):
        torch.lu_unpack(ones("dl"), torch.empty(0, dtype=torch.int32, device="dl"))
