"""What the values of one tensor are like: how many are not finite and where, and their range."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

SHOWN_POSITIONS = 8


@dataclass(frozen=True)
class Statistics:
    """Of a tensor of floating point or complex numbers.

    Minimum to norm are of the finite values alone, and nan where there are none; of complex numbers
    real and imaginary parts count as values.

    :ivar nan: values that are no number.
    :ivar inf: values that are infinite, of either sign.
    :ivar positions: indices of the first elements that are not finite, row by row; of a sparse
        tensor those among its values.
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
        """Whether all values are finite."""
        return not self.nan and not self.inf


def _values(tensor: torch.Tensor) -> torch.Tensor:
    tensor = tensor.detach()
    if tensor.layout != torch.strided:
        tensor = (
            tensor.coalesce().values() if tensor.layout == torch.sparse_coo else tensor.values()
        )
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
    # Half types would overflow in the sums.
    return tensor if tensor.dtype in (torch.float32, torch.float64) else tensor.float()


def has_values(tensor: torch.Tensor) -> bool:
    """Whether a tensor holds numbers that can overflow, and that can be read."""
    readable = tensor.device.type != "meta" and not tensor.is_nested and not tensor.is_quantized
    return readable and (tensor.is_floating_point() or tensor.is_complex())


def statistics(tensor: torch.Tensor) -> Statistics:
    """Measure a tensor that :func:`has_values`, on its device."""
    values = _values(tensor)
    finite = torch.isfinite(values)
    count = torch.stack([finite.sum(), torch.isnan(values).sum()]).tolist()
    bad = values.numel() - count[0]
    numbers = values[finite] if bad else values
    summary = [math.nan] * 5
    if count[0]:
        low, high = torch.stack(list(torch.aminmax(numbers))).tolist()
        # Squares of large values do not fit, those of scaled ones do.
        scale = max(abs(low), abs(high)) or 1.0
        scaled = numbers / scale
        variance, mean = torch.var_mean(scaled, correction=0)
        parts = torch.stack([mean, variance, scaled.square().mean()]).tolist()
        # A sum over n ones may exceed n by rounding; the mean is between the ends all the same.
        mean_value = min(max(parts[0] * scale, low), high)
        std, norm = (math.sqrt(x) * scale for x in parts[1:])
        summary = [low, high, mean_value, std, norm * math.sqrt(count[0])]
    positions: tuple[tuple[int, ...], ...] = ()
    if bad:
        marked = ~finite if not tensor.is_complex() else (~finite).any(-1)
        positions = tuple(map(tuple, marked.nonzero()[:SHOWN_POSITIONS].tolist()))
    return Statistics(
        tuple(tensor.shape),
        str(tensor.dtype).removeprefix("torch."),
        str(tensor.device),
        count[1],
        bad - count[1],
        positions,
        *summary,
    )
