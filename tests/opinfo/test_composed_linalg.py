"""Composite factorizations, solvers, transforms and losses are right, with their gradients, and run
on a device that has their parts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional

from diopi_proto.tolerance import OpClass
from dl_torch_tests.opinfo.operators import Judgement
from dl_torch_tests.opinfo.sweep import Arguments, compare_calls

pytestmark = pytest.mark.filterwarnings("ignore")

aten = torch.ops.aten
fft, linalg = torch.fft, torch.linalg
Function = Callable[..., Any]


def numbers(*shape: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(*shape, generator=generator, dtype=dtype)


def complexes(*shape: int) -> torch.Tensor:
    return numbers(*shape, dtype=torch.complex128)


def positive(*shape: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    matrix = numbers(*shape, dtype=dtype)
    return matrix @ matrix.mH + torch.eye(shape[-1], dtype=dtype)


def into(function: Function, *outputs: str) -> Function:
    """Return the out= form, with outputs that have to be resized."""

    def call(x: torch.Tensor, *rest: Any) -> Any:
        if not outputs:
            return function(x, *rest, out=x.new_empty(0))
        kinds = {"pivots": torch.int32, "info": torch.int32, "logabsdet": torch.float64}
        made = {y: x.new_empty(0, dtype=kinds.get(y, x.dtype)) for y in outputs}
        return function(x, *rest, **made)

    return call


def weighted(x: torch.Tensor) -> torch.Tensor:
    weights = torch.arange(1, x.numel() + 1, dtype=x.dtype).view(x.shape)
    return (x * weights.to(x.device)).sum()


def with_gradient(function: Function) -> Function:
    """Return the results, and the gradients of the floating-point arguments."""

    def call(*arguments: Any) -> list[torch.Tensor]:
        leaves = [
            x.detach().clone().requires_grad_()
            if isinstance(x, torch.Tensor) and (x.is_floating_point() or x.is_complex())
            else x
            for x in arguments
        ]
        made = function(*leaves)
        results = list(made) if isinstance(made, tuple | list) else [made]
        total = sum(
            weighted(torch.view_as_real(y.resolve_conj()) if y.is_complex() else y)
            for y in results
            if y.requires_grad and y.numel()
        )
        wanted = [x for x in leaves if isinstance(x, torch.Tensor) and x.requires_grad]
        return [y.detach() for y in results] + list(torch.autograd.grad(total, wanted))

    return call


S, C, P, Q = (
    numbers(3, 5, 5),
    complexes(4, 4),
    positive(2, 5, 5),
    positive(4, 4, dtype=torch.cdouble),
)
B, TALL, WIDE = numbers(3, 5, 2), numbers(2, 6, 4), numbers(2, 4, 6)
LOWER = numbers(3, 5, 5).tril() + 4 * torch.eye(5)
LU = linalg.lu_factor(S)
LABELS, MARGINS = torch.tensor([1, 0, 3]), numbers(3, 4)
GEQRF = torch.geqrf(TALL)
LOG_PROBS = numbers(7, 2, 4).log_softmax(-1)
TARGETS = torch.tensor([[1, 2, 1], [3, 3, 0]])
LENGTHS = torch.tensor([7, 6]), torch.tensor([3, 2])


def ctc(reduction: str, zero_infinity: bool = False) -> Function:
    return lambda x: functional.ctc_loss(
        x, TARGETS.to(x.device), (7, 6), (3, 2), 0, reduction, zero_infinity
    )


def ctc_of_lengths_in_tensors(x: torch.Tensor) -> Any:
    return functional.ctc_loss(
        x, TARGETS.to(x.device), *(y.to(x.device) for y in LENGTHS), reduction="none"
    )


FORMS: dict[str, tuple[Function, tuple[Any, ...]]] = {
    "cholesky": (with_gradient(linalg.cholesky), (P,)),
    "cholesky upper": (with_gradient(lambda a: linalg.cholesky(a, upper=True)), (Q,)),
    "cholesky old": (with_gradient(torch.cholesky), (P,)),
    "cholesky.out": (into(torch.cholesky), (P,)),
    "cholesky_ex of none": (lambda a: linalg.cholesky_ex(a).info, (-P,)),
    "cholesky_solve": (with_gradient(torch.cholesky_solve), (numbers(2, 5, 3), LOWER[:2])),
    "cholesky_inverse": (with_gradient(torch.cholesky_inverse), (LOWER,)),
    "cholesky_inverse.out": (into(torch.cholesky_inverse), (LOWER,)),
    "linalg_solve_triangular": (
        with_gradient(lambda a, b: linalg.solve_triangular(a, b, upper=False)),
        (LOWER, B),
    ),
    "linalg_solve_triangular right, adjoint": (
        with_gradient(
            lambda a, b: linalg.solve_triangular(
                a.mH, b, upper=True, left=False, unitriangular=True
            )
        ),
        (LOWER.to(torch.cdouble), complexes(2, 5)),
    ),
    "linalg_solve_triangular.out": (
        lambda a, b: linalg.solve_triangular(a, b, upper=False, out=b.new_empty(0)),
        (LOWER, B),
    ),
    "triangular_solve": (with_gradient(torch.triangular_solve), (B, LOWER.mT.contiguous())),
    "linalg_qr": (with_gradient(linalg.qr), (TALL,)),
    "linalg_qr complete": (lambda a: linalg.qr(a, mode="complete"), (TALL,)),
    "linalg_qr r": (lambda a: linalg.qr(a, mode="r"), (WIDE,)),
    "linalg_qr of complex numbers": (with_gradient(linalg.qr), (C,)),
    "linalg_householder_product": (with_gradient(linalg.householder_product), GEQRF),
    "linalg_householder_product.out": (into(linalg.householder_product), GEQRF),
    "ormqr": (lambda a, tau, b: torch.ormqr(a, tau, b), (*GEQRF, numbers(2, 6, 3))),
    "ormqr right, transposed": (
        lambda a, tau, b: torch.ormqr(a, tau, b, left=False, transpose=True),
        (*GEQRF, numbers(2, 3, 6)),
    ),
    "ormqr.out": (into(torch.ormqr), (*GEQRF, numbers(2, 6, 3))),
    "linalg_lu": (with_gradient(linalg.lu), (S,)),
    "linalg_lu.out": (lambda a: linalg.lu(a, out=[a.new_empty(0) for _ in range(3)]), (TALL,)),
    "linalg_lu_factor": (with_gradient(lambda a: linalg.lu_factor(a)[0]), (C,)),
    "linalg_lu_factor wide": (linalg.lu_factor, (WIDE,)),
    "linalg_lu_solve": (with_gradient(linalg.lu_solve), (*LU, B)),
    "linalg_lu_solve right, adjoint": (
        lambda a, p, b: linalg.lu_solve(a, p, b, left=False, adjoint=True),
        (*LU, B.mT),
    ),
    "linalg_lu_solve.out": (into(linalg.lu_solve), (*LU, B)),
    "lu_unpack": (with_gradient(torch.lu_unpack), LU),
    "lu_unpack without pivots": (lambda a, p: torch.lu_unpack(a, p, unpack_pivots=False), LU),
    "lu_unpack without data": (lambda a, p: torch.lu_unpack(a, p, unpack_data=False), LU),
    "_linalg_solve_ex": (with_gradient(linalg.solve), (S, B)),
    "_linalg_solve_ex of vectors": (with_gradient(linalg.solve), (S, numbers(3, 5))),
    "_linalg_solve_ex right": (
        with_gradient(lambda a, b: linalg.solve(a, b, left=False)),
        (C, complexes(3, 4)),
    ),
    "_linalg_solve_ex.result": (
        lambda a, b: aten._linalg_solve_ex.result(
            a,
            b,
            result=a.new_empty(0),
            LU=a.new_empty(0),
            pivots=a.new_empty(0, dtype=torch.int32),
            info=a.new_empty(0, dtype=torch.int32),
        ),
        (S, B),
    ),
    "linalg_inv_ex": (with_gradient(linalg.inv), (S,)),
    "linalg_inv_ex of complex numbers": (with_gradient(linalg.inv), (C,)),
    "linalg_inv_ex.inverse": (into(aten.linalg_inv_ex.inverse, "inverse", "info"), (S,)),
    "_linalg_det": (with_gradient(linalg.det), (S,)),
    "_linalg_det of complex numbers": (with_gradient(linalg.det), (C,)),
    "_linalg_det.result": (into(aten._linalg_det.result, "result", "LU", "pivots"), (S,)),
    "_linalg_slogdet": (with_gradient(linalg.slogdet), (S,)),
    "_linalg_slogdet.sign": (
        into(aten._linalg_slogdet.sign, "sign", "logabsdet", "LU", "pivots"),
        (S,),
    ),
    # / 75: the gradient exponentiates a matrix with the incoming gradient, and errors grow with it.
    "linalg_matrix_exp": (with_gradient(lambda a: linalg.matrix_exp(a) / 75), (S / 2,)),
    "linalg_matrix_exp of complex numbers": (linalg.matrix_exp, (2 * C,)),
    "linalg_cross": (with_gradient(linalg.cross), (numbers(4, 3), numbers(1, 3))),
    "linalg_cross.out": (
        lambda a, b: linalg.cross(a, b, dim=0, out=a.new_empty(0)),
        (numbers(3, 2), numbers(3, 1)),
    ),
    "_pdist_forward": (with_gradient(functional.pdist), (TALL[0],)),
    "_pdist_forward of another norm": (
        with_gradient(lambda x: functional.pdist(x, 3.0)),
        (TALL[0],),
    ),
    "_ctc_loss": (with_gradient(ctc("mean")), (LOG_PROBS,)),
    "_ctc_loss of each": (with_gradient(ctc("none", True)), (LOG_PROBS,)),
    "_ctc_loss.Tensor": (with_gradient(ctc_of_lengths_in_tensors), (LOG_PROBS,)),
    "multi_margin_loss": (with_gradient(functional.multi_margin_loss), (MARGINS, LABELS)),
    "multi_margin_loss of squares": (
        with_gradient(
            lambda x, y, w: (
                functional.multi_margin_loss(x, y, 2, 0.5, w.detach(), reduction="none")
                + 0 * w.sum()
            )
        ),
        (MARGINS, LABELS, numbers(4).abs()),
    ),
    "multi_margin_loss.out": (
        lambda x, y: aten.multi_margin_loss.out(x, y, 1, 1, None, 2, out=x.new_empty(0)),
        (MARGINS, LABELS),
    ),
    "multi_margin_loss_backward.grad_input": (
        lambda g, x, y: aten.multi_margin_loss_backward.grad_input(
            g, x, y, 2, 1, None, 1, grad_input=x.new_empty(0)
        ),
        (torch.tensor(1.5, dtype=torch.float64), MARGINS, LABELS),
    ),
    "mvlgamma.out": (into(torch.mvlgamma), (numbers(6).abs() + 2, 3)),
    "_fft_c2c": (with_gradient(fft.fft), (complexes(3, 8),)),
    "_fft_c2c of several dimensions": (with_gradient(fft.fftn), (complexes(3, 8, 7),)),
    "_fft_c2c back": (
        with_gradient(lambda x: fft.ifft2(x, dim=(0, 2), norm="ortho")),
        (complexes(3, 8, 37),),
    ),
    "_fft_c2c.out": (into(fft.fft), (complexes(3, 8),)),
    "_fft_r2c": (with_gradient(fft.rfft), (numbers(3, 9),)),
    "_fft_r2c of several dimensions": (with_gradient(fft.rfftn), (numbers(3, 8, 6),)),
    "_fft_r2c whole": (with_gradient(lambda x: fft.fft(x, dim=0)), (numbers(12, 5),)),
    "_fft_r2c.out": (
        lambda x: fft.rfft(x, out=x.new_empty(0, dtype=torch.complex128)),
        (numbers(3, 9),),
    ),
    "_fft_c2r": (with_gradient(fft.irfft), (complexes(3, 5),)),
    "_fft_c2r of an odd length": (with_gradient(lambda x: fft.irfft(x, 9)), (complexes(3, 5),)),
    "_fft_c2r of several dimensions": (with_gradient(fft.irfftn), (complexes(3, 4, 5),)),
    "_fft_c2r.out": (
        lambda x: fft.irfft(x, out=x.new_empty(0, dtype=torch.float64)),
        (complexes(3, 5),),
    ),
    "tril_": (lambda x: x.clone().tril_(-1), (WIDE,)),
    "triu_": (lambda x: x.clone().mT.triu_(1), (WIDE,)),
    "hfft": (with_gradient(fft.hfft), (complexes(4, 6),)),
    "ihfft": (with_gradient(fft.ihfft), (numbers(4, 6),)),
    "stft": (
        lambda x: torch.stft(x, 16, 4, window=torch.ones_like(x[:16]), return_complex=True),
        (numbers(64),),
    ),
}


COMPLEX_ARITHMETIC = {
    *("linalg_lu_factor", "_linalg_solve_ex right", "linalg_inv_ex of complex numbers"),
    *("_linalg_det of complex numbers", "linalg_matrix_exp of complex numbers", "cholesky upper"),
    *("linalg_qr of complex numbers", "linalg_solve_triangular right, adjoint"),
}
"""Functions that need, in themselves or in their gradients, complex operators that the contract
lacks."""


@pytest.mark.parametrize("form", FORMS)
def test_form_is_right_and_runs_without_fallback(form: str, vendor: str) -> None:
    function, (first, *rest) = FORMS[form]

    def call(arguments: Arguments) -> Any:
        given, args, named = arguments
        return function(given, *args, **named)

    judgement = Judgement(op_class=OpClass.MATMUL, normwise=True)
    without = vendor == "cpu" and form not in COMPLEX_ARITHMETIC
    with torch.dl.fallback("error" if without else "allow"):
        outcome = compare_calls(call, (first, tuple(rest), {}), judgement, "dl")
    assert outcome == (None, False)


SINGULAR = torch.ones(3, 3)
REFUSED: dict[str, tuple[Function, str]] = {
    "no factor": (lambda d: linalg.cholesky(-torch.eye(3, device=d)), "not positive-definite"),
    "no factor in a batch": (
        lambda d: linalg.cholesky(torch.stack([torch.eye(3), -torch.eye(3)]).to(d)),
        "Batch element 1",
    ),
    "no inverse": (lambda d: linalg.inv(SINGULAR.to(d)), "singular"),
    "no solution": (lambda d: linalg.solve(SINGULAR.to(d), SINGULAR.to(d)), "singular"),
    "no squares": (
        lambda d: linalg.cholesky(torch.ones(2, 3, device=d)),
        "must be batches of square",
    ),
    "no matrices": (lambda d: linalg.lu_factor(torch.ones(3, device=d)), "2 or more dimensions"),
    "sizes that do not fit": (
        lambda d: linalg.solve_triangular(
            torch.ones(3, 3, device=d), torch.ones(2, 1, device=d), upper=True
        ),
        "Incompatible shapes",
    ),
    "integers": (
        lambda d: linalg.qr(torch.ones(3, 3, dtype=torch.int64, device=d)),
        "floating point or complex",
    ),
    "no dimension": (lambda d: fft.fft(torch.tensor(1.0, device=d)), "dim"),
    "no elements": (lambda d: fft.fft(torch.ones(0, device=d)), "Invalid number of data points"),
    "an invalid label": (
        lambda d: functional.multi_margin_loss(
            torch.ones(2, 3, device=d), torch.tensor([0, 3], device=d)
        ).item(),
        "out of range|out of bounds",
    ),
    "vectors of another length": (
        lambda d: linalg.cross(torch.ones(2, 4, device=d), torch.ones(2, 4, device=d)),
        "must have length 3",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_errors_match_those_of_the_cpu(what: str, vendor: str) -> None:
    call, said = REFUSED[what]
    for device in ("cpu", "dl"):
        with pytest.raises((RuntimeError, IndexError), match=said):
            call(device)


EMPTY: dict[str, Function] = {
    "cholesky": lambda d: linalg.cholesky(torch.ones(2, 0, 0, device=d)),
    "qr": lambda d: linalg.qr(torch.ones(2, 0, 3, device=d)),
    "complete qr": lambda d: linalg.qr(torch.ones(3, 0, device=d), mode="complete"),
    "lu": lambda d: linalg.lu(torch.ones(0, 3, 3, device=d)),
    "lu_factor": lambda d: linalg.lu_factor(torch.ones(2, 3, 0, device=d)),
    "solve": lambda d: linalg.solve(torch.ones(2, 0, 0, device=d), torch.ones(2, 0, 4, device=d)),
    "solve_triangular": lambda d: linalg.solve_triangular(
        torch.ones(3, 3, device=d), torch.ones(3, 0, device=d), upper=True
    ),
    "inverse": lambda d: linalg.inv(torch.ones(0, 0, device=d)),
    "determinant": lambda d: linalg.det(torch.ones(2, 0, 0, device=d)),
    "slogdet": lambda d: linalg.slogdet(torch.ones(0, 0, device=d)),
    "exponential": lambda d: linalg.matrix_exp(torch.ones(2, 0, 0, device=d)),
    "cross": lambda d: linalg.cross(torch.ones(0, 3, device=d), torch.ones(0, 3, device=d)),
    "distances": lambda d: functional.pdist(torch.ones(1, 3, device=d)),
    "distances in no dimensions": lambda d: functional.pdist(torch.ones(3, 0, device=d)),
    "householder": lambda d: linalg.householder_product(
        torch.ones(3, 0, device=d), torch.ones(0, device=d)
    ),
}


@pytest.mark.parametrize("what", EMPTY)
def test_empty_inputs_are_as_on_the_cpu(what: str, vendor: str) -> None:
    def results(device: str) -> list[torch.Tensor]:
        made = EMPTY[what](device)
        return [x.cpu() for x in (made if isinstance(made, tuple) else (made,))]

    for got, want in zip(results("dl"), results("cpu"), strict=True):
        assert got.dtype == want.dtype and torch.equal(got, want)
