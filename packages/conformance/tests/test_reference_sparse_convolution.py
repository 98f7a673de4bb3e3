"""Sparse convolution matches a dense one if all voxels are present; gradients match derivatives."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from dl_conformance.inputs import Array, uniform
from suite_arguments import arguments_of, direction, results_of, slope

CONV, POOL = "diopiIndiceConvMmcv", "diopiIndiceMaxpoolMmcv"


def pairs_of(places: Array, outputs: Array, kernel: tuple[int, ...], padding: int) -> Any:
    """Return the pairs of a convolution with stride 1: tap k maps position p to p - k + pad."""
    cells = list(itertools.product(*map(range, kernel)))
    pairs = np.full((len(cells), 2, len(places)), -1)
    counts = np.zeros(len(cells), np.int64)
    row_of = {tuple(x): row for row, x in enumerate(outputs)}
    for k, cell in enumerate(cells):
        for row, place in enumerate(places):
            target = row_of.get(tuple(place - cell + padding))
            if target is not None:
                pairs[k, :, counts[k]] = row, target
                counts[k] += 1
    return {"indicePairs": pairs, "indiceNum": counts}


def grid(*sizes: int) -> Array:
    return np.array(list(np.ndindex(*sizes)))


def pairs_in(given: dict[str, Any]) -> Array:
    """Return the pairs of a call, one per row."""
    pairs, counts = given["indicePairs"], given["indiceNum"]
    if pairs.shape[:2] != (len(counts), 2):
        pairs = pairs.swapaxes(0, 1)
    return np.concatenate([pairs[k, :, :n].T for k, n in enumerate(counts)]).astype(int)


def numbers(key: str, *shape: int) -> Array:
    return uniform(key, int(np.prod(shape)), -1, 1).reshape(shape).astype(np.longdouble)


def dense(image: Array, filters: Array, padding: int) -> Array:
    """Return the correlation of `image` [H, W, C] with `filters` [kh, kw, C, M]."""
    kh, kw = filters.shape[:2]
    padded = np.pad(image, ((padding, padding), (padding, padding), (0, 0)))
    height, width = (n + 2 * padding - k + 1 for n, k in zip(image.shape, (kh, kw), strict=False))
    out = np.zeros((height, width, filters.shape[3]), image.dtype)
    for y, x in np.ndindex(kh, kw):
        out += padded[y : y + height, x : x + width] @ filters[y, x]
    return out


@pytest.mark.parametrize(("kernel", "padding"), [((3, 3), 1), ((2, 3), 0)])
def test_where_all_voxels_are_there_it_is_a_dense_convolution(
    kernel: tuple[int, int], padding: int
) -> None:
    image, filters = numbers("image", 5, 4, 3), numbers("filters", *kernel, 3, 2)
    want = dense(image, filters, padding)
    given = dict(
        features=image.reshape(-1, 3),
        filters=filters,
        numActOut=want.size // 2,
        _inverse=0,
        **pairs_of(grid(5, 4), grid(*want.shape[:2]), kernel, padding),
    )
    for submanifold in (0, 1) if padding == 1 else (0,):
        got = results_of(CONV, {**given, "_subM": submanifold})["out"]
        assert np.allclose(got.reshape(want.shape).astype(float), want.astype(float), 1e-15)
    bias = numbers("bias", 2)
    fused = results_of("diopiFusedIndiceConvBatchnormMmcv", {**given, "bias": bias, "_subM": 0})
    assert np.allclose((fused["out"] - bias).astype(float), want.reshape(-1, 2).astype(float))


def test_an_inverse_leads_back_along_the_same_pairs() -> None:
    """The transposed convolution is the product with the transposed matrix."""
    for case, given in arguments_of(CONV):
        if given["_subM"] or given["features"].size == 0:
            continue
        there = {**given, "numActOut": given["numActOut"]}
        out = results_of(CONV, there)["out"]
        back = numbers(case, *out.shape)
        turned = {
            **given,
            "features": back,
            "filters": np.swapaxes(given["filters"], -1, -2),
            "numActOut": len(given["features"]),
            "_inverse": 1 - given["_inverse"],
        }
        got = results_of(CONV, turned)["out"]
        assert np.isclose(float(np.sum(out * back)), float(np.sum(got * given["features"]))), case


@pytest.mark.parametrize("name", ["features", "filters"])
def test_gradients_of_a_convolution_are_slopes(name: str) -> None:
    at, compared = ("features", "filters").index(name), 0
    for case, given in arguments_of("diopiIndiceConvBackwardMmcv"):
        found = results_of("diopiIndiceConvBackwardMmcv", given)["outlist"][at]
        along = direction(case, given[name])
        forward = {**given, "numActOut": len(given["outGrad"])}
        want = slope(CONV, "out", given["outGrad"], forward, name, along)
        got = np.sum(found * along)
        assert abs(got - want) < 1e-8 * (1 + abs(want)), f"{case}: {got}, slope {want}"
        compared += 1
    assert compared > 8


def test_maxima_are_those_of_a_dense_pool_of_positive_numbers() -> None:
    image = numbers("positive", 5, 4, 3) + 2
    pairs = pairs_of(grid(5, 4), grid(4, 3), (2, 2), 0)
    out = results_of(POOL, {"features": image.reshape(-1, 3), "numAct": 12, **pairs})["out"]
    windows = np.lib.stride_tricks.sliding_window_view(image, (2, 2), axis=(0, 1))
    assert np.array_equal(out.reshape(4, 3, 3), windows.max(axis=(-1, -2)))
    none = results_of(POOL, {"features": -image.reshape(-1, 3), "numAct": 12, **pairs})["out"]
    assert not none.any()


def test_gradients_of_maxima_are_slopes_where_no_features_are_equal() -> None:
    compared = 0
    for case, given in [
        *arguments_of(POOL),
        (
            "all voxels",
            {
                "features": numbers("either sign", 20, 3),
                "numAct": 12,
                **pairs_of(grid(5, 4), grid(4, 3), (2, 2), 0),
            },
        ),
    ]:
        listed = pairs_in(given)
        if len(np.unique(listed, axis=0)) < len(listed):
            continue  # a pair of two cells gets the gradient twice
        out = results_of(POOL, given)["out"]
        grad = direction(f"{case} grad", out)
        backward = {**given, "outFeatures": out, "outGrad": grad}
        found = results_of("diopiIndiceMaxpoolBackwardMmcv", backward)["out"]
        along = direction(case, given["features"])
        want, got = slope(POOL, "out", grad, given, "features", along), np.sum(found * along)
        assert abs(got - want) < 1e-8 * (1 + abs(want)), f"{case}: {got}, slope {want}"
        compared += found.any()
    assert compared > 2


def test_all_of_equal_maxima_get_the_gradient() -> None:
    """The gradient is conserved, and counted once for each pair of equal numbers."""
    ties = 0
    for case, given in arguments_of("diopiIndiceMaxpoolBackwardMmcv"):
        found = results_of("diopiIndiceMaxpoolBackwardMmcv", given)["out"]
        listed = pairs_in(given)
        equal = given["features"][listed[:, 0]] == given["outFeatures"][listed[:, 1]]
        sent = np.sum(np.where(equal, given["outGrad"][listed[:, 1]], 0))
        assert np.isclose(float(found.sum()), float(sent)), case
        takers = np.zeros_like(given["outFeatures"])
        np.add.at(takers, listed[:, 1], equal)
        ties += int((takers > 1).sum())
    assert ties > 3
