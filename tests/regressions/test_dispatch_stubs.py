"""Torch's device-generic kernels call dispatch stubs, which a private device has to register.

The stubs that dl tensors can reach are registered, or dl has a kernel of its own for the operator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional

# Torch warns if invariants are not checked.
pytestmark = pytest.mark.filterwarnings("ignore")

INDICES = [[0, 0, 1], [0, 2, 1]]
UNSORTED = [[0, 0, 0], [2, 1, 1]]


def coo(device: str, indices: list[list[int]], **options: Any) -> torch.Tensor:
    return torch.sparse_coo_tensor(
        torch.tensor(indices, device=device),
        torch.tensor([3.0, 4.0, 5.0], device=device),
        (2, 3),
        **options,
    )


def test_coalesced_tensors_pass_the_invariant_checks() -> None:
    made = coo("dl", INDICES, is_coalesced=True, check_invariants=True)
    assert made.is_coalesced() and made.device.type == "dl"
    assert torch.equal(made.to_dense().cpu(), coo("cpu", INDICES).to_dense())


@pytest.mark.parametrize("indices", [UNSORTED, [[0, 0, 0], [1, 1, 2]], [[1, 0, 0], [0, 1, 2]]])
def test_uncoalesced_tensors_fail_the_invariant_checks_as_on_the_cpu(
    indices: list[list[int]],
) -> None:
    with pytest.raises(RuntimeError) as cpu:
        coo("cpu", indices, is_coalesced=True, check_invariants=True)
    with pytest.raises(RuntimeError) as got:
        coo("dl", indices, is_coalesced=True, check_invariants=True)
    assert str(got.value) == str(cpu.value)


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("count", [0, 1, 4])
def test_invariant_checks_take_any_number_of_dimensions_and_elements(dims: int, count: int) -> None:
    def build(device: str) -> torch.Tensor:
        places = torch.arange(count).expand(dims, count)
        return torch.sparse_coo_tensor(
            places.to(device),
            torch.ones(count, 2, device=device),
            (*[5] * dims, 2),
            is_coalesced=True,
            check_invariants=True,
        )

    assert torch.equal(build("dl").to_dense().cpu(), build("cpu").to_dense())


def test_invariant_checks_of_programs_cover_sums_and_products() -> None:
    def result(device: str) -> torch.Tensor:
        a = coo(device, UNSORTED).coalesce()
        return ((a + a) * a).coalesce().to_dense().cpu()

    with torch.sparse.check_sparse_tensor_invariants():
        assert torch.equal(result("dl"), result("cpu"))


REACHED = (
    *("aten::kthvalue.values", "aten::ldexp.Tensor", "aten::ldexp.out", "aten::ldexp_"),
    *("aten::mode.values", "aten::median.dim_values", "aten::nanmedian.dim_values"),
)
"""Overloads with a device-generic kernel that calls a stub."""


@pytest.mark.parametrize("overload", REACHED)
def test_operator_with_a_stub_inside_has_a_kernel_of_dl(overload: str) -> None:
    assert torch._C._dispatch_has_kernel_for_dispatch_key(overload, "PrivateUse1")


CALLS: dict[str, Callable[[str], torch.Tensor]] = {
    "kaiser_window": lambda d: torch.kaiser_window(5, device=d),
    "ldexp": lambda d: torch.ldexp(torch.ones(3, device=d), torch.arange(3, device=d)),
    "ldexp_": lambda d: torch.ones(3, device=d).ldexp_(torch.arange(3, device=d)),
    "mode": lambda d: torch.mode(torch.tensor([1.0, 2.0, 2.0], device=d)).values,
    "mode into": lambda d: (
        torch.mode(
            torch.tensor([1.0, 2.0, 2.0], device=d),
            out=(torch.empty(0, device=d), torch.empty(0, dtype=torch.int64, device=d)),
        ).values
    ),
    "attention": lambda d: functional.scaled_dot_product_attention(
        *[torch.ones(1, 1, 2, 4, device=d)] * 3
    ),
    "max_pool1d": lambda d: functional.max_pool1d(torch.arange(6.0, device=d)[None], 2),
    "spdiags": lambda d: (
        torch.sparse.spdiags(torch.ones(1, 3), torch.tensor([0]), (3, 3)).to(d).to_dense()
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_call_that_reaches_a_stub_computes_what_the_cpu_does(name: str) -> None:
    torch.testing.assert_close(CALLS[name]("dl").cpu(), CALLS[name]("cpu"))
