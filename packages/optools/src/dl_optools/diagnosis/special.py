"""Special functions that torch lacks."""

from __future__ import annotations

import torch

_STEPS = 300
_TINY = 1e-300


def beta_ratio(a: torch.Tensor, b: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Return the regularised incomplete beta function I_x(a, b) for a, b > 0 (DLMF 8.17).

    By the continued fraction DLMF 8.17.22 with the modified Lentz method (Thompson and Barnett,
    Coulomb and Bessel functions of complex arguments and order, 1986); where that converges slowly,
    by I_x(a, b) = 1 - I_{1-x}(b, a).
    """
    mirrored = x > (a + 1) / (a + b + 2)
    p, q = torch.where(mirrored, b, a), torch.where(mirrored, a, b)
    y = torch.where(mirrored, 1 - x, x)
    front = p * y.log() + q * torch.log1p(-y) - p.log()
    front = (front + torch.lgamma(p + q) - torch.lgamma(p) - torch.lgamma(q)).exp()
    value = torch.ones_like(y)
    c, d = value.clone(), 1 / _away_from_zero(1 - (p + q) * y / (p + 1))
    value = d.clone()
    for m in range(1, _STEPS):
        for term in (
            m * (q - m) * y / ((p + 2 * m - 1) * (p + 2 * m)),
            -(p + m) * (p + q + m) * y / ((p + 2 * m) * (p + 2 * m + 1)),
        ):
            d = 1 / _away_from_zero(1 + term * d)
            c = _away_from_zero(1 + term / c)
            value = value * c * d
        if bool(((c * d - 1).abs() < 1e-13).all()):
            break
    found = (front * value).clamp(0, 1)
    return torch.where(mirrored, 1 - found, found).where((x > 0) & (x < 1), (x >= 1).to(x.dtype))


def _away_from_zero(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x.abs() < _TINY, _TINY, x)
