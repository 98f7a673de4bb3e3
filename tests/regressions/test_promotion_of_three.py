"""Operators with three or more tensors derive the result dtype from all operands together.

Promoted pairwise, int64 and float16 would become float16, and then float64: int64 values that
float16 cannot represent would be lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest
import torch
from torch.nn import functional

Tensors = tuple[torch.Tensor, ...]
Call = Callable[..., torch.Tensor]

DTYPES = (
    *(torch.bool, torch.uint8, torch.int64),
    *(torch.float16, torch.float32, torch.float64, torch.complex64),
)
VALUES = ([3.0, 1.0, 7.0, 2.0], [1.0, 2.0, 5.0, 1.0], [2.0, 4.0, 1.0, 8.0])
FORMS = ("vvv", "svv", "vsv", "vvs", "vss", "svs", "ssv", "vhv", "vvh")
"""Forms of the operands: a vector, a scalar tensor, or a scalar tensor on the host."""

ELEMENTWISE: dict[str, Call] = {
    "clamp": torch.clamp,
    "addcmul": torch.addcmul,
    "addcmul by two": lambda *x: torch.addcmul(*x, value=2),
    "addcmul by a half": lambda *x: torch.addcmul(*x, value=0.5),
    "addcdiv": torch.addcdiv,
    "lerp": torch.lerp,
    "where": torch.where,
}
IN_PLACE: dict[str, Call] = {
    "clamp_": lambda *x: x[0].clamp_(*x[1:]),
    "addcmul_": lambda *x: x[0].addcmul_(*x[1:]),
    "addcdiv_": lambda *x: x[0].addcdiv_(*x[1:]),
    "lerp_": lambda *x: x[0].lerp_(*x[1:]),
}
OUT = ("clamp", "addcmul", "addcdiv", "lerp", "where")
PRODUCTS: dict[str, tuple[Call, str]] = {
    "addmv": (torch.addmv, "vmv"),
    "addmm": (torch.addmm, "mmm"),
    "addbmm": (torch.addbmm, "mbb"),
    "baddbmm": (torch.baddbmm, "bbb"),
    "addr": (torch.addr, "mvv"),
    "linear": (lambda bias, x, weight: functional.linear(x, weight, bias), "vmm"),
    "bilinear": (lambda b, x, w: functional.bilinear(x, x, w.expand(4, 4, 4), b), "vmm"),
}
SHAPES = {"v": (4,), "s": (), "h": (), "m": (4, 4), "b": (2, 4, 4)}

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def operands(forms: str, dtypes: tuple[torch.dtype, ...], device: str) -> Tensors:
    made = []
    for values, form, dtype in zip(VALUES, forms, dtypes, strict=True):
        shape = SHAPES[form]
        vector = torch.tensor(values, dtype=torch.float64)
        full = vector[0].reshape(()) if shape == () else vector.expand(shape).contiguous()
        made.append(full.to(dtype).to("cpu" if form == "h" else device))
    return tuple(made)


def outcome(call: Callable[[], torch.Tensor]) -> Any:
    """Return the result on the host, or the type of the error; None if there is no kernel."""
    try:
        return call().cpu()
    except NotImplementedError:
        return None
    except RuntimeError as error:
        return type(error)


def problem(want: Any, got: Any) -> str | None:
    """Describe how dl differs from the CPU. A vendor may support a dtype that the CPU lacks."""
    if want is None:
        return None
    if isinstance(want, type) or isinstance(got, type) or got is None:
        return None if got is want else f"{got}, the CPU {want}"
    if (got.dtype, got.shape) != (want.dtype, want.shape):
        return f"{got.dtype} {tuple(got.shape)}, the CPU {want.dtype} {tuple(want.shape)}"
    rtol = 4e-3 if want.dtype is torch.float16 else 1e-5
    same = torch.allclose(got, want, rtol=rtol, equal_nan=True)
    return None if same else f"{got.tolist()}, the CPU {want.tolist()}"


def problems(call: Call, forms: str, outs: tuple[torch.dtype | None, ...] = (None,)) -> list[str]:
    found = []
    for dtypes, out in product(product(DTYPES, repeat=3), outs):

        def run(
            device: str,
            dtypes: tuple[torch.dtype, ...] = dtypes,
            out: torch.dtype | None = out,
        ) -> Any:
            given = operands(forms, dtypes, device)
            if out is None:
                return outcome(lambda: call(*given))
            target = torch.empty(0, dtype=out, device=device)
            return outcome(lambda: call(*given, out=target))

        different = problem(run("cpu"), run("dl"))
        if different is not None:
            found.append(f"{forms} {dtypes} into {out}: {different}")
    return found


@pytest.mark.parametrize("forms", FORMS)
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_operators_promote_all_operands_together(name: str, forms: str) -> None:
    found = problems(ELEMENTWISE[name], forms)
    assert not found, "\n".join(found[:8])


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_forms_refuse_the_results_that_they_cannot_hold(name: str) -> None:
    found = problems(IN_PLACE[name], "vvv")
    assert not found, "\n".join(found[:8])


@pytest.mark.parametrize("name", OUT)
def test_out_forms_convert_and_refuse_as_on_the_cpu(name: str) -> None:
    found = problems(ELEMENTWISE[name], "vvv", (torch.float16, torch.float64, torch.int64))
    assert not found, "\n".join(found[:8])


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_with_a_summand_take_the_dtypes_of_the_cpu(name: str) -> None:
    call, forms = PRODUCTS[name]
    found = problems(call, forms)
    assert not found, "\n".join(found[:8])


BOUNDS: dict[str, Callable[[str], torch.Tensor]] = {
    "a half between an integer and a double": lambda d: torch.clamp(
        torch.tensor([70000, 1], device=d),
        torch.tensor(0.0, dtype=torch.float16, device=d),
        torch.tensor(1e9, dtype=torch.float64, device=d),
    ),
    "bools between integers": lambda d: torch.clamp(
        torch.tensor([True, False], device=d),
        torch.tensor(0, dtype=torch.int32, device=d),
        torch.tensor(300),
    ),
    "bounds of more dimensions": lambda d: torch.clamp(
        torch.tensor([5, 1], device=d),
        torch.zeros(3, 1, dtype=torch.float16, device=d),
        torch.full((2, 1, 1), 2.5, device=d),
    ),
    "columns": lambda d: torch.clamp(
        torch.arange(6.0, device=d).view(2, 3).t(), torch.ones(3, 1, device=d)
    ),
    "one bound": lambda d: torch.arange(4, device=d).clamp(max=torch.tensor(1.5)),
    "not a number": lambda d: torch.clamp(
        torch.tensor([1.0, torch.nan, 3.0], device=d),
        torch.tensor([torch.nan, 0.0, 0.0], device=d),
        torch.tensor([2.0, 2.0, torch.nan], device=d),
    ),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_clamped_values_strides_and_dtypes_are_those_of_the_cpu(name: str) -> None:
    want, got = BOUNDS[name]("cpu"), BOUNDS[name]("dl")
    assert got.dtype == want.dtype
    assert got.stride() == want.stride()
    assert torch.equal(got.cpu().nan_to_num(-1), want.nan_to_num(-1))
