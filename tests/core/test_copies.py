"""Copies: every layout, dtype and direction, compared with the same copy on the CPU."""

from __future__ import annotations

import pytest
import torch

from .processes import output

LAYOUTS = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.transpose(0, 2),
    "every second": lambda x: x[::2, :, 1::2],
    "window": lambda x: x[1:3, 1:4, 2:5],
    "broadcast": lambda x: x[:1, :, :1].expand(3, -1, 4),
    "offset": lambda x: x[2],
    "one element": lambda x: x[1, 2, 3],
    "empty": lambda x: x[:0],
    "channels last": lambda x: x[None].contiguous(memory_format=torch.channels_last),
}
DTYPES = (
    torch.float32,
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.complex64,
    torch.int64,
    torch.int32,
    torch.uint8,
    torch.bool,
)


def numbers(dtype: torch.dtype = torch.float32) -> torch.Tensor:
    values = torch.arange(4 * 5 * 6).reshape(4, 5, 6) % 97
    if dtype.is_complex:
        return torch.complex(values.float(), -values.float() / 3).to(dtype)
    return values.to(dtype)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: str(dtype)[6:])
def test_a_tensor_comes_back_as_it_went(layout: str, dtype: torch.dtype) -> None:
    x = LAYOUTS[layout](numbers(dtype))
    there = x.to("dl")
    assert (there.dtype, there.shape) == (x.dtype, x.shape)
    assert there.stride() == x.clone().stride()
    assert torch.equal(there.cpu(), x)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_view_on_the_device_is_downloaded(layout: str) -> None:
    view = LAYOUTS[layout]
    assert torch.equal(view(numbers().to("dl")).cpu(), view(numbers()))


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "broadcast"])
@pytest.mark.parametrize("source", ["dl", "cpu"])
def test_a_copy_into_a_view_writes_there_and_nowhere_else(layout: str, source: str) -> None:
    x, expected = torch.zeros(4, 5, 6, device="dl"), torch.zeros(4, 5, 6)
    target, wanted = LAYOUTS[layout](x), LAYOUTS[layout](expected)
    values = torch.randn(wanted.shape)
    target.copy_(values.to(source))
    wanted.copy_(values)
    assert torch.equal(target.cpu(), wanted)
    assert torch.equal(x.cpu(), expected)


@pytest.mark.parametrize("source", DTYPES, ids=lambda dtype: str(dtype)[6:])
@pytest.mark.parametrize("target", DTYPES, ids=lambda dtype: str(dtype)[6:])
@pytest.mark.parametrize("direction", ["dl-dl", "cpu-dl", "dl-cpu"])
@pytest.mark.filterwarnings("ignore:Casting complex values to real")
def test_a_copy_converts_as_the_cpu_does(
    source: torch.dtype, target: torch.dtype, direction: str
) -> None:
    here, there = direction.split("-")
    x = numbers(source).transpose(0, 2)
    expected = torch.empty(x.shape, dtype=target).copy_(x)
    got = torch.empty(x.shape, dtype=target, device=there).copy_(x.to(here))
    assert torch.equal(got.cpu(), expected)


def test_a_copy_broadcasts() -> None:
    x = torch.zeros(3, 4, device="dl")
    x.copy_(torch.arange(4.0))
    x[1:].copy_(torch.tensor(7.0, device="dl"))
    assert x.tolist() == [[0, 1, 2, 3], [7] * 4, [7] * 4]


def test_a_copy_between_overlapping_views() -> None:
    x = torch.arange(10.0, device="dl")
    x[2:6] = x[:4].clone()
    assert x.tolist() == [0, 1, 0, 1, 2, 3, 6, 7, 8, 9]


@pytest.mark.parametrize(
    "view",
    [
        pytest.param(lambda x: x.conj(), id="conj"),
        pytest.param(lambda x: x.conj().imag, id="conj imag (neg)"),
        pytest.param(lambda x: torch._neg_view(x), id="neg"),
        pytest.param(lambda x: torch._neg_view(x.conj()), id="neg conj"),
        pytest.param(lambda x: x.conj().transpose(0, 1)[::2], id="conj strided"),
    ],
)
def test_lazy_conjugation_and_negation_are_carried_out(view: object) -> None:
    x = numbers(torch.complex64)
    expected = view(x).resolve_conj().resolve_neg()
    assert torch.equal(view(x.to("dl")).cpu().resolve_conj().resolve_neg(), expected)
    assert torch.equal(view(x).to("dl").cpu().resolve_conj().resolve_neg(), expected)
    target = torch.empty_like(expected, device="dl")
    assert torch.equal(target.copy_(view(x.to("dl"))).cpu(), expected)


def test_a_copy_into_a_conjugated_view() -> None:
    x = torch.zeros(3, dtype=torch.complex64, device="dl")
    x.conj().copy_(torch.tensor([1 + 2j, 3j, 4]))
    assert x.tolist() == [1 - 2j, -3j, 4]


@pytest.mark.parametrize("count", [1, 1 << 10, 1 << 20])
def test_pinned_memory_goes_both_ways_without_blocking(count: int) -> None:
    x = torch.arange(float(count)).pin_memory()
    assert x.is_pinned()
    there = x.to("dl", non_blocking=True)
    back = torch.empty(count).pin_memory()
    back.copy_(there + 1, non_blocking=True)
    torch.dl.synchronize()
    assert torch.equal(back, x + 1)


def test_pinned_memory_may_be_dropped_while_it_is_read() -> None:
    expected = [torch.full((1 << 16,), float(at)) for at in range(8)]
    there = [x.pin_memory().to("dl", non_blocking=True) for x in expected]
    reused = [torch.full((1 << 16,), -1.0).pin_memory() for _ in range(8)]
    assert all(torch.equal(a.cpu(), b) for a, b in zip(there, expected, strict=True))
    assert all(bool((x == -1).all()) for x in reused)


def test_pageable_memory_may_change_after_a_copy() -> None:
    x = torch.ones(1 << 18)
    there = x.to("dl", non_blocking=True)
    x.zero_()
    assert float(there.sum()) == 1 << 18


@pytest.mark.parametrize("shape", [(), (1,), (1, 1, 1)])
def test_item_of_one_element(shape: tuple[int, ...]) -> None:
    assert torch.full(shape, 2.5, device="dl").item() == 2.5


def test_item_of_more_elements_is_refused() -> None:
    with pytest.raises(RuntimeError, match="2 elements cannot be converted to Scalar"):
        torch.ones(2, device="dl").item()


@pytest.mark.devices(2)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_a_copy_between_two_devices(layout: str, dtype: torch.dtype) -> None:
    x = numbers()
    view = LAYOUTS[layout](x.to("dl:0"))
    there = view.to("dl:1", dtype)
    assert there.device == torch.device("dl:1")
    assert torch.equal(there.cpu(), LAYOUTS[layout](x).to(dtype))
    assert torch.equal(there.to("dl:0").cpu(), LAYOUTS[layout](x).to(dtype))


@pytest.mark.devices(2)
def test_a_copy_between_two_devices_into_a_view() -> None:
    x = torch.zeros(6, device="dl:1")
    x[::2].copy_(torch.arange(3.0, device="dl:0"))
    assert x.tolist() == [0, 0, 1, 0, 2, 0]
    assert torch.dl.current_device() == 0


@pytest.mark.vendor("async")
@pytest.mark.parametrize("vendors", ["cpu,async", "async,cpu"])
def test_a_copy_between_two_vendors(vendors: str) -> None:
    said = output(
        """
        import torch
        names = [torch.dl.get_device_properties(i).vendor for i in range(torch.dl.device_count())]
        assert sorted(set(names)) == ["async", "cpu"], names
        a, b = names.index("cpu"), names.index("async")
        x = torch.arange(24.0).reshape(4, 6)
        for here, there in ((a, b), (b, a)):
            y = x.to(f"dl:{here}")
            for view in (y, y.t(), y[1:3, ::2], y[0, 0], y.half()):
                z = view.to(f"dl:{there}")
                assert z.device.index == there and torch.equal(z.cpu(), view.cpu())
            try:
                y + x.to(f"dl:{there}")
            except RuntimeError as error:
                assert "same device" in str(error)
            else:
                raise AssertionError("two vendors in one operator")
        print("right")
        """,
        DL_VENDORS=vendors,
    )
    assert said == "right"
