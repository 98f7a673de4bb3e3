"""References of operators that sample feature maps at places that are data."""

from __future__ import annotations

from typing import Any

import numpy as np

from referenced import Expected
from references import reference
from references_regions import tents


def padded(plane: Any, y: float, x: float) -> Any:
    """Between cells of planes [..., H, W], with zeros all around."""
    height, width = plane.shape[-2:]
    return plane @ tents(x, width) @ tents(y, height)


def levels_of(value: Any, shapes: Any, starts: Any) -> list[Any]:
    """The levels of value [S, H, D], as [H, D, height, width]."""
    found = [value[start : start + h * w].reshape(h, w, *value.shape[1:])
             for (h, w), start in zip(shapes, starts, strict=True)]  # fmt: skip
    return [np.moveaxis(level, (0, 1), (2, 3)) for level in found]


def attended(value: Any, shapes: Any, starts: Any, places: Any, weights: Any) -> Any:
    out = np.zeros((len(value), places.shape[1], value.shape[2], value.shape[3]))
    for n, q, head, level, point in np.ndindex(weights.shape):
        plane = levels_of(value[n], shapes, starts)[level][head]
        (x, y), (h, w) = places[n, q, head, level, point], shapes[level]
        at = padded(plane, y * h - 0.5, x * w - 0.5)
        out[n, q, head] += weights[n, q, head, level, point] * at
    return out.reshape(*out.shape[:2], -1)


@reference("diopiMsDeformAttnMmcv")
def deformed(*, value: Any, spatial_shapes: Any, level_start_index: Any, sampling_loc: Any,
             attn_weight: Any, **_: Any) -> dict[str, Any]:  # fmt: skip
    given = (spatial_shapes, level_start_index, sampling_loc)
    size = attended(np.abs(value), *given, np.abs(attn_weight))
    return {"out": Expected(attended(value, *given, attn_weight), 64, size + 1)}


@reference("diopiMsDeformAttnBackwardMmcv")
def deformed_backward(*, grad_value: Any, grad_sampling_loc: Any, grad_attn_weight: Any, value: Any,
                      spatial_shapes: Any, level_start_index: Any, sampling_loc: Any,
                      attn_weight: Any, grad_output: Any, **_: Any) -> dict[str, Any]:  # fmt: skip
    """Linear in values and weights, and in places between cells: differences are slopes."""
    shapes, starts = spatial_shapes, level_start_index

    def slope(which: int, at: Any, step: float) -> float:
        given = [value, sampling_loc, attn_weight]
        ends = []
        for sign in (1, -1):
            moved = given[which].copy()
            moved[at] += sign * step
            v, p, w = [moved if k == which else each for k, each in enumerate(given)]
            ends.append(np.sum(attended(v, shapes, starts, p, w) * grad_output))
        return float(ends[0] - ends[1]) / (2 * step)

    results = {}
    outputs = {"grad_value": (0, grad_value, 0.5),
               "grad_sampling_loc": (1, grad_sampling_loc, 1e-4),
               "grad_attn_weight": (2, grad_attn_weight, 0.5)}  # fmt: skip
    for name, (which, before, step) in outputs.items():
        slopes = np.array([slope(which, at, step) for at in np.ndindex(before.shape)])
        results[name] = Expected(before + slopes.reshape(before.shape), 64, 256.0)
    return results


def keys(distance: Any) -> Any:
    """The cubic convolution kernel with a = -3/4, by its two polynomials."""
    t, a = np.abs(distance), -0.75
    inner = np.polyval([a + 2, -(a + 3), 0, 1], t)
    return np.where(t <= 1, inner, np.where(t < 2, np.polyval([a, -5 * a, 8 * a, -4 * a], t), 0))


@reference("diopiGridSample")
def grid_sample(*, input: Any, grid: Any, mode: str) -> dict[str, Any]:
    height, width = input.shape[2:]
    kernels = {
        "bilinear": lambda d: np.maximum(0, 1 - np.abs(d)),
        "nearest": lambda d: (np.abs(d) < 0.5) * 1.0,
        "bicubic": keys,
    }
    out = np.zeros((*input.shape[:2], *grid.shape[1:3]))
    size = np.zeros(out.shape)
    for n, i, j in np.ndindex(grid.shape[:3]):
        x, y = ((grid[n, i, j] + 1) * [width, height] - 1) / 2
        rows, columns = (kernels[mode](at - np.arange(size))
                         for at, size in ((y, height), (x, width)))  # fmt: skip
        out[n, :, i, j] = input[n] @ columns @ rows
        size[n, :, i, j] = np.abs(input[n]) @ np.abs(columns) @ np.abs(rows)
    return {"out": Expected(out, 16, size + 1)}


def windows(given: dict[str, Any], first: Any, second: Any, output: Any) -> Any:
    """Position in the first input, in the second, and in the output, of all products."""
    for n, ph, pw, h, w in np.ndindex(output):
        for i, j in np.ndindex(given["kH"], given["kW"]):
            y = h * given["dH"] - given["padH"] + i * given["dilationH"]
            x = w * given["dW"] - given["padW"] + j * given["dilationW"]
            v = y + (ph - (given["patchH"] - 1) // 2) * given["dilation_patchH"]
            u = x + (pw - (given["patchW"] - 1) // 2) * given["dilation_patchW"]
            inside = (0 <= a < first.shape[2 + k % 2] for k, a in enumerate((y, x, v, u)))
            if all(inside):
                yield (n, slice(None), y, x), (n, slice(None), v, u), (n, ph, pw, h, w)


def correlated(first: Any, second: Any, given: dict[str, Any]) -> Any:
    sizes = [(first.shape[2 + k] + 2 * given[f"pad{d}"]
              - (given[f"k{d}"] - 1) * given[f"dilation{d}"] - 1) // given[f"d{d}"] + 1
             for k, d in enumerate("HW")]  # fmt: skip
    out = np.zeros((len(first), given["patchH"], given["patchW"], *sizes))
    for a, b, o in windows(given, first, second, out.shape):
        out[o] += first[a] @ second[b]
    return out


@reference("diopiCorrelationMmcv")
def correlation(*, input1: Any, input2: Any, **given: Any) -> dict[str, Any]:
    size = correlated(np.abs(input1), np.abs(input2), given)
    return {"output": Expected(correlated(input1, input2, given), 64, size)}


@reference("diopiCorrelationBackwardMmcv")
def correlation_backward(*, grad_input1: Any, grad_input2: Any, grad_output: Any, input1: Any,
                         input2: Any, **given: Any) -> dict[str, Any]:  # fmt: skip
    out1, out2 = grad_input1.copy(), grad_input2.copy()
    for a, b, o in windows(given, input1, input2, grad_output.shape):
        out1[a] += grad_output[o] * input2[b]
        out2[b] += grad_output[o] * input1[a]
    return {"grad_input1": Expected(out1, 256, np.abs(out1) + 256),
            "grad_input2": Expected(out2, 256, np.abs(out2) + 256)}  # fmt: skip
