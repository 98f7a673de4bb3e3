"""Products of conjugate and negative views, which torch passes to the product unresolved."""

from __future__ import annotations

import pytest
import torch

DEVICES = ("cpu", "dl")


def complex_numbers(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.complex64, generator=torch.Generator().manual_seed(3))


FORMS = {
    "mm": lambda a, b, c: torch.mm(a.conj(), b),
    "mm of the second": lambda a, b, c: torch.mm(a, b.mH.mT),
    "mm of both": lambda a, b, c: a.mH @ a,
    "bmm": lambda a, b, c: torch.bmm(a.conj()[None], b[None]),
    "addmm": lambda a, b, c: torch.addmm(c.conj(), a, b.conj()),
    "baddbmm": lambda a, b, c: torch.baddbmm(c[None].conj(), a[None], b[None]),
    "negative": lambda a, b, c: torch.mm(a.conj().imag.contiguous(), b.conj().imag),
    "out": lambda a, b, c: torch.mm(a, b, out=torch.empty_like(c).conj()).resolve_conj(),
    "matrix and vector": lambda a, b, c: a.conj() @ b[:, 0],
    "inner": lambda a, b, c: torch.vdot(a[0], b[:, 1].conj()),
}


@pytest.mark.parametrize("name", FORMS)
def test_products_of_conjugates(name: str) -> None:
    operands = complex_numbers(3, 4), complex_numbers(4, 5), complex_numbers(3, 5)
    want, got = (FORMS[name](*(x.to(device) for x in operands)).cpu() for device in DEVICES)
    torch.testing.assert_close(got, want)


def test_gradient_of_a_complex_product() -> None:
    found = []
    for device in DEVICES:
        a = complex_numbers(3, 4).to(device).requires_grad_()
        b = complex_numbers(4, 5).to(device).requires_grad_()
        found.append(torch.autograd.grad((a @ b).abs().sum(), (a, b)))
    for want, got in zip(*found, strict=True):
        torch.testing.assert_close(got.cpu(), want)
