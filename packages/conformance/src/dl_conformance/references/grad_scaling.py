"""Scaling of losses and gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference


@reference("diopiAmpForeachNonFiniteCheckAndUnscaleInp")
def unscale(*, scaled_grads: list[Array], found_inf: Array, inv_scale: Array) -> dict[str, Any]:
    bad = any(not np.all(np.isfinite(x)) for x in scaled_grads)
    found = np.ones_like(found_inf) if bad else found_inf
    return {"scaled_grads": [x * inv_scale for x in scaled_grads], "found_inf": found}


@reference("diopiAmpUpdateScaleInp")
def update_scale(
    *,
    current_scale: Array,
    growth_tracker: Array,
    found_inf: Array,
    scale_growth_factor: float,
    scale_backoff_factor: float,
    growth_interval: int,
) -> dict[str, Any]:
    if np.any(found_inf != 0):
        return {
            "current_scale": current_scale * scale_backoff_factor,
            "growth_tracker": np.zeros_like(growth_tracker),
        }
    if growth_tracker.reshape(-1)[0] + 1 == growth_interval:
        return {
            "current_scale": current_scale * scale_growth_factor,
            "growth_tracker": np.zeros_like(growth_tracker),
        }
    return {"current_scale": current_scale, "growth_tracker": growth_tracker + 1}


@reference("diopiClipGradNorm")
def clip_grad_norm(
    *, grads: list[Any], max_norm: float, norm_type: float, error_if_nonfinite: bool
) -> dict[str, Any]:
    size = np.abs(np.concatenate([x.reshape(-1) for x in grads if x is not None]))
    order = np.longdouble(norm_type)
    norm = np.max(size) if np.isinf(norm_type) else np.sum(size**order) ** (1 / order)
    scale = min(1, max_norm / (norm + np.longdouble(1e-6)))
    # Roundings of the norm, the quotient and the product.
    length = size.size + 4
    clipped = [
        None if x is None else Expected(x * scale, length, np.abs(x * scale), op_class="reduction")
        for x in grads
    ]
    number = "float64" if grads[0].dtype == np.longdouble else "float32"
    return {"out": Expected(norm, length, norm, dtype=number), "grads": clipped}
