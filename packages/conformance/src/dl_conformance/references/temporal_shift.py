"""Temporal shift of groups of channels."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, reference


def _shift_frames(frames: Array, shift: Array) -> Array:
    out = np.zeros_like(frames)
    groups, times = shift.shape[1], frames.shape[1]
    size = frames.shape[2] // groups
    for n, g, t in np.ndindex(len(frames), groups, times):
        to = t + int(shift[n, g])
        if 0 <= to < times:
            part = slice(g * size, (g + 1) * size)
            out[n, to, part] = frames[n, t, part]
    return out


@reference("diopiTinShiftMmcv")
def shift_forward(*, input: Array, shift: Array) -> dict[str, Any]:
    return {"output": _shift_frames(input, shift)}


@reference("diopiTinShiftBackwardMmcv")
def shift_backward(*, grad_output: Array, shift: Array) -> dict[str, Any]:
    return {"grad_input": _shift_frames(grad_output, -shift.astype(np.int64))}
