"""Group normalization."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference


@reference("diopiGroupNorm")
def group_norm(
    *, input: Array, weight: Any, bias: Any, num_groups: int, eps: float
) -> dict[str, Any]:
    samples, channels = input.shape[:2]
    grouped = input.reshape(samples, num_groups, -1)
    count = grouped.shape[2]
    mean = grouped.mean(axis=2)
    centred = grouped - mean[..., None]
    inverse = 1 / np.sqrt(np.mean(centred * centred, axis=2) + eps)
    mean_size = np.abs(grouped).mean(axis=2)
    spread = np.abs(centred) + np.abs(grouped) + mean_size[..., None]
    sides = (1, channels, *(1 for _ in input.shape[2:]))
    scale = np.ones(sides) if weight is None else weight.reshape(sides)
    shift = np.zeros(sides) if bias is None else bias.reshape(sides)
    value = (centred * inverse[..., None]).reshape(input.shape) * scale + shift
    size = (spread * inverse[..., None]).reshape(input.shape) * np.abs(scale) + np.abs(shift)
    return {
        "out": Expected(value, count, size),
        "save_mean": Expected(mean, count, mean_size),
        "save_invstd": Expected(inverse, count, inverse),
    }
