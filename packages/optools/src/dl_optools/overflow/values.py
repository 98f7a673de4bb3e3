"""Statistics of one tensor's values: how many are not finite and where, and their range."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

SHOWN_POSITIONS = 8


@dataclass(frozen=True)
class Statistics:
    """Statistics of a floating-point or complex tensor.

    Minimum to norm cover the finite values only, and are nan without any; real and imaginary parts
    of complex numbers count as values.

    :ivar nan: number of nan values.
    :ivar inf: number of infinite values of either sign.
    :ivar positions: indices of the first elements that are not finite, in row-major order; for a
        sparse tensor indices among its values.
    :ivar minimum: smallest value.
    :ivar maximum: largest value.
    :ivar mean: arithmetic mean.
    :ivar std: standard deviation with the divisor n.
    :ivar norm: Euclidean norm.
    """

    shape: tuple[int, ...]
    dtype: str
    device: str
    nan: int
    inf: int
    positions: tuple[tuple[int, ...], ...]
    minimum: float
    maximum: float
    mean: float
    std: float
    norm: float

    @property
    def finite(self) -> bool:
        """Return True if all values are finite."""
        return not self.nan and not self.inf


def _values(tensor: torch.Tensor) -> torch.Tensor:
    tensor = tensor.detach()
    if tensor.layout != torch.strided:
        tensor = (
            tensor.coalesce().values() if tensor.layout == torch.sparse_coo else tensor.values()
        )
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
    # Half precision would overflow in the sums.
    return tensor if tensor.dtype in (torch.float32, torch.float64) else tensor.float()


def has_values(tensor: torch.Tensor) -> bool:
    """Return True if a tensor holds readable values of a floating-point or complex dtype."""
    readable = tensor.device.type != "meta" and not tensor.is_nested and not tensor.is_quantized
    return readable and (tensor.is_floating_point() or tensor.is_complex())


def statistics(*tensors: torch.Tensor) -> list[Statistics]:
    """Compute statistics of tensors that :func:`has_values`, on their device.

    For finite tensors four numbers each are transferred together, with a single synchronisation.
    """
    found: list[Statistics | None] = [None] * len(tensors)
    rough: dict[tuple[torch.device, torch.dtype], list[tuple[int, torch.Tensor]]] = {}
    for at, tensor in enumerate(tensors):
        values = _values(tensor)
        if values.numel():
            # Both propagate nan and inf.
            ends = torch.aminmax(values)
            variance, mean = torch.var_mean(values, correction=0)
            four = torch.stack([ends.min, ends.max, mean, variance])
            rough.setdefault((four.device, four.dtype), []).append((at, four))
    for each in rough.values():
        for (at, _), numbers in zip(each, torch.stack([x for _, x in each]).tolist(), strict=True):
            if all(map(math.isfinite, numbers)):
                found[at] = _finite(tensors[at], *numbers)
    return [x or _exactly(tensors[at]) for at, x in enumerate(found)]


def _finite(
    tensor: torch.Tensor, low: float, high: float, mean: float, variance: float
) -> Statistics:
    count = tensor.numel() * (2 if tensor.is_complex() else 1)
    if tensor.layout != torch.strided:
        return _exactly(tensor)
    # A sum over n ones may exceed n by rounding, but the mean is within the range.
    mean = min(max(mean, low), high)
    norm = math.sqrt(count * (variance + mean * mean))
    return Statistics(*_described(tensor), 0, 0, (), low, high, mean, math.sqrt(variance), norm)


def _described(tensor: torch.Tensor) -> tuple[tuple[int, ...], str, str]:
    dtype = str(tensor.dtype).removeprefix("torch.")
    return tuple(tensor.shape), dtype, str(tensor.device)


def _exactly(tensor: torch.Tensor) -> Statistics:
    """Return statistics of a tensor that is not finite, or whose sums are not."""
    values = _values(tensor)
    finite = torch.isfinite(values)
    count = torch.stack([finite.sum(), torch.isnan(values).sum()]).tolist()
    bad = values.numel() - count[0]
    numbers = values[finite] if bad else values
    summary = [math.nan] * 5
    if count[0]:
        low, high = torch.stack(list(torch.aminmax(numbers))).tolist()
        # Squares of large values overflow, squares of scaled values do not.
        scale = max(abs(low), abs(high)) or 1.0
        scaled = numbers / scale
        variance, mean = torch.var_mean(scaled, correction=0)
        parts = torch.stack([mean, variance, scaled.square().mean()]).tolist()
        # A sum over n ones may exceed n by rounding, but the mean is within the range.
        mean_value = min(max(parts[0] * scale, low), high)
        std, norm = (math.sqrt(x) * scale for x in parts[1:])
        summary = [low, high, mean_value, std, norm * math.sqrt(count[0])]
    positions: tuple[tuple[int, ...], ...] = ()
    if bad:
        marked = ~finite if not tensor.is_complex() else (~finite).any(-1)
        positions = tuple(map(tuple, marked.nonzero()[:SHOWN_POSITIONS].tolist()))
    return Statistics(
        *_described(tensor),
        count[1],
        bad - count[1],
        positions,
        *summary,
    )
