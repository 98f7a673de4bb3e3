"""References of operators that move features about."""

from __future__ import annotations

from typing import Any

import numpy as np

from referenced import Expected
from references import reference


def added(before: Any, amounts: Any, length: int = 64) -> Expected:
    return Expected(before + amounts, length, np.abs(before) + np.abs(amounts) + 16)


def columns(points: Any, idx: Any) -> Any:
    return np.stack([of_batch[:, places] for of_batch, places in zip(points, idx, strict=True)])


def put_columns(before: Any, grad: Any, idx: Any) -> Expected:
    total = np.zeros(before.shape)
    for at in np.ndindex(idx.shape):
        total[at[0], :, idx[at]] += grad[(at[0], slice(None), *at[1:])]
    return added(before, total)


@reference("diopiGatherPointsMmcv")
@reference("diopiGroupPointsMmcv")
def gather_points(*, points: Any, idx: Any, **_: Any) -> dict[str, Any]:
    return {"out": columns(points, idx)}


@reference("diopiGatherPointsBackwardMmcv")
@reference("diopiGroupPointsBackwardMmcv")
def gather_backward(*, grad_points: Any, grad_out: Any, idx: Any, **_: Any) -> dict[str, Any]:
    return {"grad_points": put_columns(grad_points, grad_out, idx)}


def stacked(idx: Any, groups: Any, counts: Any) -> Any:
    """Positions in all batches of positions in each."""
    return idx + np.repeat(np.cumsum(counts) - counts, groups)[:, None]


@reference("diopiStackGroupPointsMmcv")
def stack_group(*, features_tensor: Any, features_batch_cnt_tensor: Any, idx_tensor: Any,
                idx_batch_cnt_tensor: Any, **_: Any) -> dict[str, Any]:  # fmt: skip
    rows = stacked(idx_tensor, idx_batch_cnt_tensor, features_batch_cnt_tensor)
    return {"out_tensor": np.moveaxis(features_tensor[rows], 2, 1)}


@reference("diopiStackGroupPointsBackwardMmcv")
def stack_group_backward(*, grad_features_tensor: Any, grad_out_tensor: Any, idx_tensor: Any,
                         idx_batch_cnt_tensor: Any, features_batch_cnt_tensor: Any,
                         **_: Any) -> dict[str, Any]:  # fmt: skip
    rows = stacked(idx_tensor, idx_batch_cnt_tensor, features_batch_cnt_tensor)
    total = np.zeros(grad_features_tensor.shape)
    np.add.at(total, rows, np.moveaxis(grad_out_tensor, 1, 2))
    return {"grad_features_tensor": added(grad_features_tensor, total)}


def differences(points: Any, centers: Any, knn: Any) -> Any:
    """[B, npoint, K, M, out_dim]."""
    return np.stack([p[k] - c[k[:, :1]] for p, c, k in zip(points, centers, knn, strict=True)])


@reference("diopiAssignScoreWithkMmcv")
def assign_score(
    *, output: Any, points: Any, centers: Any, scores: Any, knn_idx: Any, **_: Any
) -> dict[str, Any]:
    apart = differences(points, centers, knn_idx)
    return {"output": added(output, np.einsum("bikm,bikmo->boik", scores, apart))}


@reference("diopiAssignScoreWithkBackwardMmcv")
def assign_score_backward(*, grad_points: Any, grad_centers: Any, grad_scores: Any, grad_out: Any,
                          points: Any, centers: Any, scores: Any, knn_idx: Any,
                          **_: Any) -> dict[str, Any]:  # fmt: skip
    apart = differences(points, centers, knn_idx)
    by_point = np.einsum("boik,bikm->bikmo", grad_out, scores)
    to_points, to_centers = np.zeros(points.shape), np.zeros(points.shape)
    for b, k in enumerate(knn_idx):
        np.add.at(to_points[b], k, by_point[b])
        np.add.at(to_centers[b], k[:, 0], -by_point[b].sum(1))
    return {
        "grad_points": added(grad_points, to_points),
        "grad_centers": added(grad_centers, to_centers),
        "grad_scores": added(grad_scores, np.einsum("boik,bikmo->bikm", grad_out, apart)),
    }


def mask_places(s: dict[str, Any]) -> Any:
    """Position in the masks and in the attention map, of all that lie in it."""
    height, width = s["h_feature"], s["w_feature"]
    for n, i, j, h, w in np.ndindex(s["num_"], s["h_mask"], s["w_mask"], height, width):
        y, x = h + i - s["half_h_mask"], w + j - s["half_w_mask"]
        if 0 <= y < height and 0 <= x < width:
            mask = (n, i * s["w_mask"] + j, h, w)
            yield mask, (n, h * width + w, y, x) if s["psa_type"] else (n, y * width + x, h, w)


@reference("diopiPsamaskMmcv")
def psamask(*, output: Any, input: Any, **sizes: Any) -> dict[str, Any]:
    out = output.copy()
    for mask, place in mask_places(sizes):
        out[place] = input[mask]
    return {"output": out}


@reference("diopiPsamaskBackwardMmcv")
def psamask_backward(*, grad_input: Any, grad_output: Any, **sizes: Any) -> dict[str, Any]:
    out = grad_input.copy()
    for mask, place in mask_places(sizes):
        out[mask] = grad_output[place]
    return {"grad_input": out}


def moved(frames: Any, shift: Any) -> Any:
    out = np.zeros(frames.shape)
    groups, times = shift.shape[1], frames.shape[1]
    size = frames.shape[2] // groups
    for n, g, t in np.ndindex(len(frames), groups, times):
        if 0 <= t + shift[n, g] < times:
            part = slice(g * size, (g + 1) * size)
            out[n, t + shift[n, g], part] = frames[n, t, part]
    return out


@reference("diopiTinShiftMmcv")
def tin_shift(*, input: Any, shift: Any) -> dict[str, Any]:
    return {"output": moved(input, shift)}


@reference("diopiTinShiftBackwardMmcv")
def tin_shift_backward(*, grad_output: Any, shift: Any) -> dict[str, Any]:
    return {"grad_input": moved(grad_output, -shift)}


@reference("diopiMaskedIm2colMmcv")
def masked_im2col(*, im: Any, mask_h_idx: Any, mask_w_idx: Any, kernel_h: int, kernel_w: int,
                  pad_h: int, pad_w: int) -> dict[str, Any]:  # fmt: skip
    padded = np.pad(im[0], ((0, 0), (pad_h, pad_h + kernel_h), (pad_w, pad_w + kernel_w)))
    windows = [padded[:, y : y + kernel_h, x : x + kernel_w].ravel()
               for y, x in zip(mask_h_idx, mask_w_idx, strict=True)]  # fmt: skip
    return {"col": np.stack(windows, 1)}


@reference("diopiMaskedCol2imMmcv")
def masked_col2im(
    *, im: Any, col: Any, mask_h_idx: Any, mask_w_idx: Any, **_: Any
) -> dict[str, Any]:
    out = im.copy()
    out[0][:, mask_h_idx, mask_w_idx] = col
    return {"im": out}


@reference("diopiActiveRotatedFilterMmcv")
def rotated_filters(*, input: Any, indices: Any) -> dict[str, Any]:
    rotations = indices.shape[-1]
    flat = input.reshape(*input.shape[:2], -1)
    out = np.zeros((len(flat), rotations, *flat.shape[1:]))
    for k in range(rotations):
        out[:, k, :, indices[..., k].ravel() - 1] = np.moveaxis(flat, 2, 0)
    shape = (len(flat) * rotations, input.shape[1] * input.shape[2], *input.shape[3:])
    return {"output": out.reshape(shape)}


@reference("diopiActiveRotatedFilterBackwardMmcv")
def rotated_filters_backward(*, grad_out: Any, indices: Any) -> dict[str, Any]:
    orientations, height, width, rotations = indices.shape
    grad = grad_out.reshape(len(grad_out) // rotations, rotations,
                            -1, orientations * height * width)  # fmt: skip
    taken = sum(grad[:, k][..., indices[..., k].ravel() - 1] for k in range(rotations))
    shape = (*taken.shape[:2], orientations, height, width)
    return {"grad_in": Expected(taken.reshape(shape), rotations, 4.0 * rotations)}
