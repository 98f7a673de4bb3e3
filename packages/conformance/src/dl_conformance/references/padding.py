"""Padding."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, reference

MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@reference("diopiPad")
def pad(*, input: Array, pad: tuple[int, ...], mode: str, value: Any) -> dict[str, Any]:
    pairs = [(0, 0)] * input.ndim
    for at in range(len(pad) // 2):
        pairs[input.ndim - 1 - at] = (pad[2 * at], pad[2 * at + 1])
    crop = tuple(
        slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(input.shape, pairs, strict=True)
    )
    widths = [(max(a, 0), max(b, 0)) for a, b in pairs]
    if mode == "constant":
        filler = np.asarray(value or 0).astype(input.dtype)
        return {"out": np.pad(input[crop], widths, constant_values=filler)}
    return {"out": np.pad(input[crop], widths, mode=MODES[mode])}  # type: ignore[call-overload]
