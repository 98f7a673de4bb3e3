"""Realistic device faults, injected below a single overload while the program runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

Tensor = torch.Tensor
Wrong = Callable[..., Any]
aten = torch.ops.aten


class Inputs:
    """Tensors on the device under test, the same in every run."""

    def __init__(self, device: str) -> None:
        self.device = device
        self.generator = torch.Generator().manual_seed(0)

    def __call__(self, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        return torch.randn(*shape, generator=self.generator).to(dtype).to(self.device)

    def leaf(self, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        return self(*shape, dtype=dtype).requires_grad_()

    def of(self, values: Any, dtype: torch.dtype | None = None) -> Tensor:
        return torch.tensor(values, dtype=dtype).to(self.device)


@dataclass(frozen=True)
class Fault:
    """``wrong(overload, *args, **kwargs)`` runs in place of one overload of ``program``."""

    name: str
    operator: str
    program: Callable[[Inputs], Any]
    wrong: Wrong

    def __str__(self) -> str:
        return self.name.replace(" ", "-")


class FaultyDevice(TorchDispatchMode):
    """A device with one fault that does not affect the tools' own operators and copies."""

    def __init__(self, operator: str, wrong: Wrong) -> None:
        super().__init__()
        self.operator, self.wrong = operator, wrong

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if str(func) == self.operator:
            return self.wrong(func, *args, **kwargs)
        return func(*args, **kwargs)


def changed(change: Callable[[Any], Any]) -> Wrong:
    """Change the correct result."""
    return lambda f, *args, **kwargs: change(f(*args, **kwargs))


def part(at: int, change: Callable[[Any], Any]) -> Wrong:
    """Change one of several results."""
    return changed(lambda r: tuple(change(x) if i == at else x for i, x in enumerate(r)))


def replaced(at: int, change: Callable[[Any], Any]) -> Wrong:
    """Change one argument."""

    def wrong(f: Any, *args: Any, **kwargs: Any) -> Any:
        return f(*args[:at], change(args[at]), *args[at + 1 :], **kwargs)

    return wrong


def _as_contiguous(x: Tensor) -> Tensor:
    strides = [math.prod(x.shape[at + 1 :]) for at in range(x.dim())]
    return x.as_strided(x.shape, strides)


def _one_after_the_other(f: Any, left: Tensor, right: Tensor) -> Tensor:
    total = left[:, :1] * right[:1]
    for k in range(1, left.shape[1]):
        total = total + left[:, k : k + 1] * right[k : k + 1]
    return total


def _sum_in_own_dtype(f: Any, x: Tensor, *rest: Any, **kwargs: Any) -> Tensor:
    total = x[..., 0]
    for at in range(1, x.shape[-1]):
        total = total + x[..., at]
    return total


def _not_written(f: Any, target: Tensor, *rest: Any, **kwargs: Any) -> Tensor:
    return target


def _tail_not_written(f: Any, target: Tensor, source: Tensor, *rest: Any) -> Tensor:
    f(target[:-1], source[:-1], *rest)
    return target


def _out_not_written(f: Any, *args: Any, out: Tensor, **kwargs: Any) -> Tensor:
    return out


def _statistics_lost(f: Any, x: Tensor, w: Any, b: Any, mean: Tensor, var: Tensor, *r: Any) -> Any:
    return f(x, w, b, mean.clone(), var.clone(), *r)


def _truncated(f: Any, x: Tensor, **kwargs: Any) -> Tensor:
    bits = x.view(torch.int32) & -65536
    return f(bits.view(torch.float32), **kwargs)


def _carry_lost(f: Any, x: Tensor, dim: int, **kwargs: Any) -> Tensor:
    return torch.cat([f(half, dim) for half in x.chunk(2, dim)], dim)


def _softmax_unshifted(f: Any, x: Tensor, dim: int, half: bool) -> Tensor:
    e = x.exp()
    return e / e.sum(dim, keepdim=True)


def _last_of_equals(f: Any, x: Tensor, dim: int, *rest: Any) -> Tensor:
    return x.shape[dim] - 1 - f(x.flip(dim), dim, *rest)


def _last_write_wins(f: Any, x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    return x + torch.zeros_like(x).scatter(dim, index, source)


def _as_many_as_rows(f: Any, x: Tensor, target: Tensor, weight: Any, mode: int, ignore: int) -> Any:
    total, weights = f(x, target, weight, 2, ignore)
    return total / x.shape[0], weights


def _sees_the_next(f: Any, q: Tensor, k: Tensor, v: Tensor, *rest: Any, **kwargs: Any) -> Any:
    mask = torch.ones(q.shape[-2], k.shape[-2], device=q.device).tril(1).log()
    weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]) + mask, -1)
    return (weights @ v, *f(q, k, v, *rest, **kwargs)[1:])


def _flushed(x: Tensor) -> Tensor:
    return torch.where(x.abs() < torch.finfo(x.dtype).tiny, 0.0, x)


def _swap_first_two(x: Tensor) -> Tensor:
    return torch.cat([x[..., 1:2], x[..., :1], x[..., 2:]], -1)


def _running_sum(f: Any, start: float, end: float, step: float, **kwargs: Any) -> Tensor:
    count = len(range(int(start), int(end / step)))
    return (
        torch.full((count,), step, device=kwargs["device"]).cumsum(0).sub_(step).bfloat16().float()
    )


def _train(loss: Tensor) -> None:
    loss.square().sum().backward()


F = torch.nn.functional


def _attend(x: Inputs) -> None:
    q, k, v = (x(1, 2, 6, 4) for _ in range(3))
    aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, True)


def _normalize(x: Inputs) -> None:
    F.batch_norm(x(4, 3, 2, 2), x.of([0.5, 1.0, 2.0]), x.of([1.0, 2.0, 3.0]), training=True)


FAULTS = [
    Fault(
        "wrong epsilon",
        "aten.native_layer_norm.default",
        lambda x: F.layer_norm(x(4, 16), (16,)),
        replaced(4, lambda eps: eps * 100),
    ),
    Fault(
        "running statistics lost",
        "aten.native_batch_norm.default",
        _normalize,
        _statistics_lost,
    ),
    Fault(
        "wrong momentum",
        "aten.native_batch_norm.default",
        _normalize,
        replaced(6, lambda momentum: momentum / 2),
    ),
    Fault(
        "dropped tail of a sum",
        "aten.sum.dim_IntList",
        lambda x: x(4, 33).sum(1),
        replaced(0, lambda x: x[:, :-1]),
    ),
    Fault(
        "dropped last product",
        "aten.mm.default",
        lambda x: x(4, 17) @ x(17, 5),
        lambda f, a, b: f(a[:, :-1], b[:-1]),
    ),
    Fault(
        "missed stride",
        "aten.add.Tensor",
        lambda x: x(4, 6).t() + x(6, 4),
        replaced(0, _as_contiguous),
    ),
    Fault(
        "bfloat16 product accumulated in bfloat16",
        "aten.mm.default",
        lambda x: x(4, 64, dtype=torch.bfloat16) @ x(64, 4, dtype=torch.bfloat16),
        _one_after_the_other,
    ),
    Fault(
        "float16 sum accumulated in float16",
        "aten.sum.dim_IntList",
        lambda x: x(4, 200, dtype=torch.float16).sum(-1),
        _sum_in_own_dtype,
    ),
    Fault(
        "wrong gradient of a weight",
        "aten.convolution_backward.default",
        lambda x: _train(F.conv2d(x.leaf(2, 3, 6, 6), x.leaf(4, 3, 3, 3), x.leaf(4))),
        part(1, lambda g: g * 1.01),
    ),
    Fault(
        "wrong gradient of a bias",
        "aten.native_layer_norm_backward.default",
        lambda x: _train(F.layer_norm(x.leaf(4, 8), (8,), x.leaf(8), x.leaf(8))),
        part(2, lambda g: g * 0.5),
    ),
    Fault(
        "gradient passes at zero",
        "aten.threshold_backward.default",
        lambda x: (F.relu(x.of([[-1.0, 0.0], [0.0, 2.0]]).requires_grad_()) + 1).sum().backward(),
        lambda f, grad, result, threshold: torch.where(result >= threshold, grad, 0.0),
    ),
    Fault(
        "term of a gradient missing",
        "aten._log_softmax_backward_data.default",
        lambda x: _train(F.log_softmax(x.leaf(3, 5), 1)),
        lambda f, grad, output, dim, dtype: grad.clone(),
    ),
    Fault("write in place lost", "aten.add_.Tensor", lambda x: x(5).add_(x(5)), _not_written),
    Fault(
        "tail of a copy lost", "aten.copy_.default", lambda x: x(5).copy_(x(5)), _tail_not_written
    ),
    Fault(
        "out not written",
        "aten.mul.out",
        lambda x: torch.mul(x(5), x(5), out=x(5)),
        _out_not_written,
    ),
    Fault(
        "nan swallowed",
        "aten.relu.default",
        lambda x: F.relu(x.of([1.0, math.nan, -1.0])),
        changed(lambda r: r.nan_to_num(0.0)),
    ),
    Fault(
        "infinity made the largest number",
        "aten.exp.default",
        lambda x: x.of([1.0, 100.0]).exp(),
        changed(lambda r: r.clamp(max=torch.finfo(torch.float32).max)),
    ),
    Fault(
        "index off by one",
        "aten.index_select.default",
        lambda x: x(6, 3).index_select(0, x.of([0, 4, 2])),
        replaced(2, lambda index: index + 1),
    ),
    Fault(
        "row of an embedding off by one",
        "aten.embedding.default",
        lambda x: F.embedding(x.of([[1, 2], [3, 0]]), x(5, 4)),
        replaced(1, lambda index: index + 1),
    ),
    Fault(
        "wrong axis",
        "aten._softmax.default",
        lambda x: F.softmax(x(6, 6), 1),
        replaced(1, lambda dim: 1 - dim),
    ),
    Fault(
        "transposed weight",
        "aten.mm.default",
        lambda x: x(5, 5) @ x(5, 5),
        replaced(1, lambda w: w.t()),
    ),
    Fault(
        "bias forgotten",
        "aten.addmm.default",
        lambda x: F.linear(x(3, 4), x(5, 4), x(5)),
        lambda f, bias, left, right, **kwargs: left @ right,
    ),
    Fault(
        "scale missing",
        "aten._scaled_dot_product_flash_attention_for_cpu.default",
        _attend,
        lambda f, *args, **kwargs: f(*args, **{**kwargs, "scale": 1.0}),
    ),
    Fault(
        "causal mask off by one",
        "aten._scaled_dot_product_flash_attention_for_cpu.default",
        _attend,
        _sees_the_next,
    ),
    Fault(
        "truncated instead of rounded",
        "aten._to_copy.default",
        lambda x: x(64).bfloat16(),
        _truncated,
    ),
    Fault(
        "integer wraps",
        "aten.sum.default",
        lambda x: x.of([200, 100, 7], torch.uint8).sum(),
        changed(lambda r: r % 256),
    ),
    Fault(
        "comparison inverted on ties",
        "aten.ge.Tensor",
        lambda x: x.of([1.0, 2.0, 3.0]) >= x.of([1.0, 3.0, 2.0]),
        lambda f, a, b: a > b,
    ),
    Fault("carry lost", "aten.cumsum.default", lambda x: x(3, 8).cumsum(1), _carry_lost),
    Fault(
        "softmax without its maximum",
        "aten._softmax.default",
        lambda x: F.softmax(x(3, 5) * 100, 1),
        _softmax_unshifted,
    ),
    Fault(
        "wrong padding",
        "aten.constant_pad_nd.default",
        lambda x: F.pad(x(3, 3), (1, 1), value=-1.0),
        lambda f, x, pad, value=0: f(x, pad, 0.0),
    ),
    Fault(
        "dropout without its scale",
        "aten.native_dropout_backward.default",
        lambda x: aten.native_dropout_backward(x(8), x(8) > 0, 1.25),
        replaced(2, lambda scale: 1.0),
    ),
    Fault(
        "last of equal maxima",
        "aten.argmax.default",
        lambda x: x.of([[1.0, 3.0, 3.0], [2.0, 2.0, 0.0]]).argmax(1),
        _last_of_equals,
    ),
    Fault(
        "window cut short",
        "aten.max_pool2d_with_indices.default",
        lambda x: F.max_pool2d(x.leaf(1, 2, 6, 6), 3),
        lambda f, x, *rest: f(
            torch.where(torch.arange(6, device=x.device) % 3 == 2, -9.0, x), *rest
        ),
    ),
    Fault(
        "groups mixed up",
        "aten.convolution.default",
        lambda x: F.conv2d(x(1, 4, 5, 5), x(4, 2, 3, 3), groups=2),
        replaced(0, lambda x: x.roll(2, 1)),
    ),
    Fault(
        "padding of a convolution ignored at the edge",
        "aten.convolution.default",
        lambda x: F.conv1d(x(1, 2, 9), x(3, 2, 3), padding=1),
        changed(lambda r: r * (torch.arange(r.shape[-1], device=r.device) > 0)),
    ),
    Fault(
        "ignored targets counted",
        "aten.nll_loss_forward.default",
        lambda x: F.cross_entropy(x(4, 5), x.of([1, -100, 3, -100])),
        _as_many_as_rows,
    ),
    Fault(
        "another formula of gelu",
        "aten.gelu.default",
        lambda x: F.gelu(x(64)),
        lambda f, x: f(x, approximate="tanh"),
    ),
    Fault(
        "biased variance",
        "aten.var.correction",
        lambda x: x(4, 9).var(1),
        lambda f, x, dim, **kwargs: f(x, dim, **{**kwargs, "correction": 0}),
    ),
    Fault(
        "indices in another order than values",
        "aten.topk.default",
        lambda x: x(3, 8).topk(4),
        part(1, _swap_first_two),
    ),
    Fault(
        "last write wins",
        "aten.scatter_add.default",
        lambda x: x(5).scatter_add(0, x.of([0, 0, 1, 1, 1]), x(5)),
        _last_write_wins,
    ),
    Fault(
        "accumulation ignored",
        "aten.index_put_.default",
        lambda x: x(5).index_put_((x.of([0, 0, 1]),), x(3), accumulate=True),
        lambda f, x, indices, values, accumulate: f(x, indices, values, False),
    ),
    Fault(
        "floor of a negative quotient truncated",
        "aten.div.Tensor_mode",
        lambda x: torch.div(x.of([-7.0, 7.0]), x.of([2.0, 2.0]), rounding_mode="floor"),
        lambda f, a, b, rounding_mode: f(a, b, rounding_mode="trunc"),
    ),
    Fault(
        "power of a negative base",
        "aten.pow.Tensor_Scalar",
        lambda x: x.of([-2.0, 3.0]) ** 3,
        lambda f, x, exponent: (x.log() * exponent).exp(),
    ),
    Fault(
        "optimizer steps uphill",
        "aten.addcdiv_.default",
        lambda x: x(6).addcdiv_(x(6), x(6).abs() + 1, value=-0.1),
        lambda f, x, a, b, value: f(x, a, b, value=-value),
    ),
    Fault(
        "moments mixed with the wrong weight",
        "aten.lerp_.Scalar",
        lambda x: x(6).lerp_(x(6), 0.1),
        lambda f, x, end, weight: f(x, end, 1 - weight),
    ),
    Fault(
        "reciprocal root of few digits",
        "aten.rsqrt.default",
        lambda x: (x(32).abs() + 1).rsqrt(),
        changed(lambda r: r * 1.0001),
    ),
    Fault(
        "operands swapped",
        "aten.sub.Tensor",
        lambda x: x(4) - x(4),
        lambda f, a, b: f(b, a),
    ),
    Fault(
        "sign of a remainder",
        "aten.remainder.Tensor",
        lambda x: x.of([-5.0, 5.0]).remainder(x.of([3.0, 3.0])),
        lambda f, a, b: torch.fmod(a, b),
    ),
    Fault(
        "memory not cleared",
        "aten.zeros_like.default",
        lambda x: torch.zeros_like(x(6)),
        changed(lambda r: torch.cat([r[:-1], r[-1:] + 1e-30])),
    ),
    Fault(
        "mean over one too few",
        "aten.mean.dim",
        lambda x: x(4, 9).mean(1),
        changed(lambda r: r * 9 / 8),
    ),
    Fault(
        "float16 overflow on the way",
        "aten.mean.dim",
        lambda x: (x(2, 64, dtype=torch.float16).abs() + 2000).mean(1),
        lambda f, x, dim: _sum_in_own_dtype(f, x) / x.shape[-1],
    ),
    Fault(
        "small numbers flushed to zero",
        "aten.mul.Tensor",
        lambda x: x.of([1e-20, 1.0]) * x.of([1e-20, 1.0]),
        changed(_flushed),
    ),
    Fault(
        "positions summed up in bfloat16",
        "aten.arange.start_step",
        lambda x: torch.arange(0.0, 30.0, 0.1, device=x.device),
        _running_sum,
    ),
    Fault(
        "result of another dtype",
        "aten.exp.default",
        lambda x: x(8).exp(),
        changed(lambda r: r.bfloat16()),
    ),
    Fault(
        "one element wrong",
        "aten.tanh.default",
        lambda x: x(1000).tanh(),
        changed(lambda r: torch.where(torch.arange(1000, device=r.device) == 777, r + 1e-5, r)),
    ),
]
