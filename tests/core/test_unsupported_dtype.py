"""A dtype that the vendor lacks: the operator runs on the CPU, or its error names the dtype."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from .processes import RUNS_ONCE, output

FLOAT8 = [torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz]
COMPLEX = [torch.complex64, torch.complex128, torch.complex32]
RARE = [torch.uint16, torch.uint32, torch.uint64]


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
@pytest.mark.parametrize("dtype", [*FLOAT8, *COMPLEX, *RARE, torch.float64, torch.bool], ids=str)
def test_every_dtype_is_kept_copied_and_converted(dtype: torch.dtype) -> None:
    """The test values are exact in every dtype."""
    values = torch.tensor([0.0, 1.0]) if dtype is torch.bool else torch.tensor([0.0, 1, 2, 6])
    expected = values.to(dtype)
    x = values.to("dl").to(dtype)
    assert x.dtype is dtype and x.device.type == "dl"
    for result in (x, x.clone(), expected.to("dl"), values.to("dl", dtype), x[:].contiguous()):
        assert torch.equal(result.cpu().view(torch.uint8), expected.view(torch.uint8))
    back = x.to(torch.float32) if not dtype.is_complex else x.real.to(torch.float32)
    assert torch.equal(back.cpu(), values)
    assert torch.equal(x[1:].cpu().view(torch.uint8), expected[1:].view(torch.uint8))


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
@pytest.mark.parametrize(
    "name", ["neg", "exp", "abs", "sqrt", "sin", "add", "mul", "div", "matmul", "sum", "mean", "eq"]
)
def test_operators_on_complex_numbers_agree_with_the_cpu(name: str, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x = torch.randn(3, 3, dtype=dtype)
    operands = (x, x.flip(0)) if name in ("add", "mul", "div", "matmul", "eq") else (x,)
    expected = getattr(torch, name)(*operands)
    result = getattr(torch, name)(*(operand.to("dl") for operand in operands))
    assert result.dtype is expected.dtype and result.device.type == "dl"
    torch.testing.assert_close(result.cpu(), expected)


def test_complex_views_and_gradients() -> None:
    x = torch.tensor([1 + 2j, 3 - 4j]).to("dl").requires_grad_()
    assert x.real.tolist() == [1, 3] and x.imag.tolist() == [2, -4]
    assert x.conj().cpu().tolist() == [1 - 2j, 3 + 4j]
    assert torch.view_as_real(x).tolist() == [[1, 2], [3, -4]]
    assert (x.conj() * x).cpu().tolist() == [5, 25]
    x.abs().square().sum().backward()
    assert x.grad is not None
    torch.testing.assert_close(x.grad.cpu(), 2 * x.detach().cpu())


@pytest.mark.parametrize(
    ("action", "dtype"),
    [
        (lambda x: x + x, torch.float8_e4m3fn),
        (lambda x: x @ x, torch.float8_e5m2),
        (lambda x: x.exp(), torch.float8_e4m3fn),
        (lambda x: x.sum(), torch.float8_e5m2),
        (lambda x: x.clamp(0), torch.complex64),
        (lambda x: x < x, torch.complex64),
        (lambda x: x.logical_not_().sin_(), torch.int32),
        (lambda x: ~x, torch.float32),
        (lambda x: x - x, torch.bool),
        (lambda x: -x, torch.bool),
        (lambda x: x.mean(), torch.int64),
        (lambda x: x.sort(), torch.complex64),
    ],
)
def test_what_the_cpu_refuses_is_refused_alike(action: object, dtype: torch.dtype) -> None:
    """The error has the same type, and its message names the operator or the dtype."""
    x = torch.ones(2, 2).to(dtype)
    try:
        expected = action(x)
    except (RuntimeError, TypeError) as error:
        with pytest.raises(type(error)) as caught:
            action(x.to("dl"))
        named = str(caught.value)
        words = [
            str(dtype).removeprefix("torch."),
            "dtype",
            "implemented",
            "bool",
            "type",
            "omplex",
        ]
        assert any(word.lower() in named.lower() for word in words), named
    else:
        assert torch.equal(action(x.to("dl")).cpu(), expected)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: torch.fmod(x, x),
        lambda x: torch.fmod(x, True),
        lambda x: torch.fmod(x, x, out=torch.empty(2, dtype=torch.bool, device="dl")),
        lambda x: x.fmod_(x),
    ],
    ids=["tensor", "number", "out", "in place"],
)
def test_what_is_built_from_others_is_refused_by_its_own_name(
    call: Callable[[torch.Tensor], object],
) -> None:
    """fmod of bools is composed of remainder, which no device has."""
    with pytest.raises(NotImplementedError, match=r"^\[dl\] aten::fmod.* cannot run on dl:0"):
        call(torch.tensor([True, False], device="dl"))


def test_promotion_to_a_dtype_that_the_vendor_lacks() -> None:
    x = torch.tensor([1.0, 2.0]).to("dl")
    assert (x * 1j).dtype is torch.complex64
    assert (x * 1j).cpu().tolist() == [1j, 2j]
    assert (x.to(torch.float16) + x.to(torch.bfloat16)).dtype is torch.float32
    assert (x.to(torch.int16) * x.to(torch.uint8)).dtype is torch.int16
    assert (x.double() + x).dtype is torch.float64
    integers = torch.tensor([1, 2], dtype=torch.uint8, device="dl")
    assert (integers / 2).tolist() == [0.5, 1.0]


@RUNS_ONCE
def test_such_an_operator_is_counted_and_can_be_forbidden() -> None:
    """The asynchronous vendor lacks half precision in operators that it has."""
    code = """
import torch
x = torch.arange(4.0, device="dl")
half = x.half()
with torch.dl.fallback("error"):
    assert (x + x).tolist() == [0, 2, 4, 6]
    try:
        half + half
        raise AssertionError("it ran")
    except NotImplementedError as error:
        print(error)
torch.dl.reset_fallback_stats()
assert torch.equal((half + half).cpu(), (half.cpu() + half.cpu()))
assert torch.dl.fallback_stats()["add.Tensor"]["count"] == 1
half.add_(1)
assert half.tolist() == [1, 2, 3, 4]
"""
    said = output(code, DL_VENDORS="async")
    assert "aten::add.Tensor" in said and "Half" in said and "DL_FALLBACK=allow" in said


@pytest.mark.vendor("cpu")  # where it is not a fallback
def test_a_warning_about_a_variance_names_it() -> None:
    with pytest.warns(UserWarning, match="std or var: the correction 1 leaves no degrees"):
        assert torch.ones(1, 3, device="dl").var(0).isnan().all()
