"""Nested tensors compute as on the CPU: strided ones by torch's kernels, jagged ones by dl's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional

# Torch warns that nested tensors are a prototype.
pytestmark = pytest.mark.filterwarnings("ignore")

LENGTHS = (3, 5, 1)


def rows(*shape: int, dtype: torch.dtype = torch.float32) -> list[torch.Tensor]:
    return [torch.randn(length, *shape).to(dtype) for length in LENGTHS]


def pair(*shape: int, dtype: torch.dtype = torch.float32, **options: Any) -> list[torch.Tensor]:
    """Return the same nested tensor, a leaf, on the CPU and on dl."""
    parts = rows(*shape, dtype=dtype)
    return [
        torch.nested.nested_tensor(parts, device=device, requires_grad=True, **options)
        for device in ("cpu", "dl")
    ]


def parts_of(tensor: torch.Tensor) -> list[torch.Tensor]:
    return [part.detach().cpu() for part in (tensor.unbind() if tensor.is_nested else [tensor])]


def assert_same(ours: torch.Tensor, theirs: torch.Tensor, **bounds: float) -> None:
    assert ours.device.type == "dl" and ours.is_nested == theirs.is_nested
    torch.testing.assert_close(parts_of(ours), parts_of(theirs), **bounds)


def sum_of(tensor: torch.Tensor) -> torch.Tensor:
    return torch.stack([(part * part).sum() for part in tensor.unbind()]).sum()


STRIDED: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "elements": lambda x: (x * 2 + x - x / 3).relu().abs(),
    "activations": lambda x: functional.silu(functional.gelu(x)),
    "linear": lambda x: functional.linear(x, torch.ones(4, 8, device=x.device) / 8),
    "product": lambda x: torch.matmul(x, x.transpose(-1, -2)),
    "softmax": lambda x: torch.softmax(x, -1),
    "views": lambda x: x.transpose(1, 2).contiguous().transpose(1, 2),
    "copies": lambda x: x.to(torch.float64).masked_fill(x.detach() > 0, 0.5),
    "select": lambda x: x[1],
    "padded": lambda x: x.to_padded_tensor(0.0),
}


@pytest.mark.parametrize("name", STRIDED)
def test_strided_ones_compute_and_have_gradients(name: str) -> None:
    torch.manual_seed(0)
    theirs, ours = pair(8)
    made = [STRIDED[name](x) for x in (theirs, ours)]
    assert_same(made[1], made[0])
    for result in made:
        (sum_of(result) if result.is_nested else (result * result).sum()).backward()
    assert theirs.grad is not None and ours.grad is not None
    assert_same(ours.grad, theirs.grad, rtol=1e-4, atol=1e-5)


def test_strided_ones_move_between_devices_and_are_copied() -> None:
    theirs = torch.nested.nested_tensor(rows(4))
    ours = theirs.to("dl")
    assert_same(ours, theirs)
    assert_same(torch.zeros_like(ours).copy_(theirs), theirs)
    assert_same(ours.to(torch.bfloat16), theirs.to(torch.bfloat16))
    back = ours.cpu()
    assert back.device.type == "cpu"
    torch.testing.assert_close(parts_of(back), parts_of(theirs))


def test_what_reads_a_buffer_itself_is_refused_and_the_device_goes_on() -> None:
    _, ours = pair(8)
    for refused in (lambda: ours.exp(), lambda: ours.sum(-1)):
        with pytest.raises((NotImplementedError, RuntimeError), match=r"\[dl\].*jagged"):
            refused()
    with pytest.raises(NotImplementedError, match=r"\[dl\]"):
        torch.nested.nested_tensor(rows(8), device="dl", requires_grad=True).exp()
    assert (ours * 2).unbind()[0].shape == (3, 8)


def attention(
    tensors: list[torch.Tensor], **options: Any
) -> tuple[torch.Tensor, list[torch.Tensor | None]]:
    heads = [x.transpose(1, 2) for x in tensors]
    out = functional.scaled_dot_product_attention(heads[0], heads[1], heads[2], **options)
    out = out.transpose(1, 2)
    (out.values() * out.values()).sum().backward()
    return out, [x.grad for x in tensors]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_jagged_attention_is_that_of_each_sequence(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    parts = [rows(2, 8, dtype=dtype) for _ in range(3)]
    ours = [
        torch.nested.nested_tensor(part, layout=torch.jagged, device="dl", requires_grad=True)
        for part in parts
    ]
    out, grads = attention(ours, scale=0.3)
    wide = [[x.double().requires_grad_() for x in part] for part in parts]
    expected = [
        functional.scaled_dot_product_attention(
            *(x.transpose(0, 1) for x in sequence), scale=0.3
        ).transpose(0, 1)
        for sequence in zip(*wide, strict=True)
    ]
    torch.stack([(x * x).sum() for x in expected]).sum().backward()
    close = {"rtol": 0.05, "atol": 0.05} if dtype.itemsize == 2 else {"rtol": 1e-4, "atol": 1e-5}
    torch.testing.assert_close(out.values().detach().cpu().double(), torch.cat(expected), **close)
    for grad, part in zip(grads, wide, strict=True):
        assert grad is not None
        expected_grad = torch.cat([x.grad for x in part if x.grad is not None])
        torch.testing.assert_close(grad.values().cpu().double(), expected_grad, **close)


@pytest.mark.parametrize("known", [False, True])
def test_jagged_attention_needs_no_lengths_that_are_known(known: bool) -> None:
    torch.manual_seed(0)
    values = torch.randn(9, 2, 8)
    bounds = {"min_seqlen": 1, "max_seqlen": 5} if known else {}

    def nested(device: str) -> tuple[torch.Tensor, torch.Tensor]:
        leaf = values.clone().to(device).requires_grad_()
        offsets = torch.tensor([0, 3, 8, 9], device=device)
        return leaf, torch.nested.nested_tensor_from_jagged(leaf, offsets, **bounds)

    found = []
    for device in ("cpu", "dl"):
        leaf, x = nested(device)
        heads = x.transpose(1, 2)
        out = functional.scaled_dot_product_attention(heads, heads, heads).transpose(1, 2)
        out.values().sin().sum().backward()
        assert leaf.grad is not None
        found.append((out.values().detach().cpu(), leaf.grad.cpu()))
    torch.testing.assert_close(found[1], found[0], rtol=1e-4, atol=1e-5)


def test_dropout_in_jagged_attention_drops_some_and_none() -> None:
    torch.manual_seed(0)
    x = torch.nested.nested_tensor(rows(2, 8), layout=torch.jagged, device="dl")
    heads = x.transpose(1, 2)
    made = [
        functional.scaled_dot_product_attention(heads, heads, heads, dropout_p=p).values()
        for p in (0.0, 0.5, 1.0)
    ]
    assert made[0].count_nonzero() == made[0].numel() and made[2].count_nonzero() == 0
    assert not torch.equal(made[0], made[1])


def test_what_jagged_attention_does_not_take_is_an_error_as_on_the_cpu() -> None:
    _, x = pair(2, 8, layout=torch.jagged)
    heads = x.transpose(1, 2)
    with pytest.raises(RuntimeError, match="No viable backend"):
        functional.scaled_dot_product_attention(heads, heads, heads, is_causal=True)


def test_strided_attention_is_that_of_the_cpu() -> None:
    torch.manual_seed(0)
    found = []
    parts = [torch.randn(2, length, 8) for length in LENGTHS]
    for device in ("cpu", "dl"):
        x = torch.nested.nested_tensor(parts, device=device, requires_grad=True)
        out = functional.scaled_dot_product_attention(x, x, x)
        sum_of(out).backward()
        assert x.grad is not None
        found.append((out, x.grad))
    for ours, theirs in zip(found[1], found[0], strict=True):
        assert_same(ours, theirs, rtol=1e-4, atol=1e-5)
