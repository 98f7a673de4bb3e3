"""Convolution filters rotated by a table.

Source: Zhou et al., Oriented response networks, 2017.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference


@reference("diopiActiveRotatedFilterMmcv")
def rotated(*, input: Array, indices: Array) -> dict[str, Any]:
    rotations = indices.shape[-1]
    flat = input.reshape(*input.shape[:2], -1)
    out = np.zeros((len(flat), rotations, *flat.shape[1:]), input.dtype)
    for k in range(rotations):
        out[:, k, :, indices[..., k].ravel() - 1] = np.moveaxis(flat, 2, 0)
    shape = (len(flat) * rotations, input.shape[1] * input.shape[2], *input.shape[3:])
    return {"output": out.reshape(shape)}


@reference("diopiActiveRotatedFilterBackwardMmcv")
def rotated_backward(*, grad_out: Array, indices: Array) -> dict[str, Any]:
    orientations, height, width, rotations = indices.shape
    grad = grad_out.reshape(
        len(grad_out) // rotations, rotations, -1, orientations * height * width
    )
    taken = np.stack([grad[:, k][..., indices[..., k].ravel() - 1] for k in range(rotations)])
    shape = (*taken.shape[1:3], orientations, height, width)
    value, size = (x.sum(axis=0).reshape(shape) for x in (taken, np.abs(taken)))
    return {"grad_in": Expected(value, rotations, size)}
