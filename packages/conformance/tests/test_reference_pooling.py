"""Pooling matches torch, and its gradient matches numerical derivatives, in all cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from suite_arguments import arguments_of, direction, results_of, slope

NAMES = [f"diopiPool{dims}d" for dims in (1, 2, 3)]


def by_unfolding(given: dict[str, Any], x: Any, dims: int) -> Any:
    """Return dilated average pooling: sums of shifted, strided views divided by their counts."""
    torch = pytest.importorskip("torch")
    kernel, stride, padding = (tuple(given[k]) for k in ("ksize", "stride", "padding"))
    dilation = tuple(max(step, 1) for step in given["dilation"])
    inside = torch.ones_like(x)
    around = [p for p in reversed(padding) for _ in range(2)]
    padded, counted = (torch.nn.functional.pad(each, around) for each in (x, inside))
    if not given["exclusive"]:
        counted = torch.ones_like(counted)
    room = [n - d * (k - 1) for n, d, k in zip(padded.shape[-dims:], dilation, kernel, strict=True)]
    total, count = 0, 0
    for at in np.ndindex(*kernel):
        places = tuple(
            slice(i * d, i * d + n, s)
            for i, d, n, s in zip(at, dilation, room, stride, strict=True)
        )
        total = total + padded[(..., *places)]
        count = count + counted[(..., *places)]
    return total / count


@pytest.mark.parametrize("name", NAMES)
def test_pooling_matches_torch(name: str) -> None:
    torch = pytest.importorskip("torch")
    functional, dims, compared = torch.nn.functional, int(name[-2]), 0
    for case, given in arguments_of(name):
        x = torch.from_numpy(np.ascontiguousarray(given["input"].astype(np.float64)))
        if given["input"].shape[0] == 0:
            continue
        if given["adaptive"]:
            pool = getattr(functional, f"adaptive_{given['mode']}_pool{dims}d")
            found = pool(x, given["output_size"])
        elif given["mode"] == "max":
            found = getattr(functional, f"max_pool{dims}d")(
                x,
                given["ksize"],
                given["stride"],
                given["padding"],
                [max(step, 1) for step in given["dilation"]],  # DIOPI's 0 means 1
                given["ceil_mode"],
            )
        elif max(given["dilation"]) > 1:
            assert not given["ceil_mode"], "by_unfolding has no such windows"
            found = by_unfolding(given, x, dims)
        else:
            found = getattr(functional, f"avg_pool{dims}d")(
                x,
                given["ksize"],
                given["stride"],
                given["padding"],
                given["ceil_mode"],
                not given["exclusive"],
            )
        want = results_of(name, given)["out"].astype(np.float64)
        np.testing.assert_allclose(found.numpy(), want, rtol=1e-12, atol=1e-12, err_msg=case)
        compared += 1
    assert compared > 4


@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_slopes_of_pooling(name: str) -> None:
    compared = 0
    for case, given in arguments_of(f"{name}Backward"):
        if given["indices"] is not None or given["input"].size == 0:
            continue
        # Distinct numbers are large, and sums of large numbers have no accurate derivative.
        given["input"] = given["input"] / 64
        found = results_of(f"{name}Backward", given)["grad_input"]
        forward = {**given, "output_size": given["grad_output"].shape[-int(name[-2]) :]}
        for at in range(3):
            along = direction(f"{case} {at}", given["input"])
            want = slope(name, "out", given["grad_output"], forward, "input", along)
            got = np.sum(found * along)
            assert abs(got - want) < 1e-7 * (1 + abs(want)), f"{case}: {got}, slope {want}"
        compared += 1
    assert compared > 4


@pytest.mark.parametrize("name", NAMES)
def test_indices_name_the_cells_that_get_the_gradient(name: str) -> None:
    for case, given in arguments_of(f"{name}Backward"):
        if given["indices"] is None:
            continue
        found = results_of(f"{name}Backward", given)["grad_input"]
        lead = np.prod(given["input"].shape[: -int(name[-2])])
        places = given["indices"].reshape(int(lead), -1)
        grads = given["grad_output"].reshape(int(lead), -1)
        want = [np.bincount(p, g.astype(float)) for p, g in zip(places, grads, strict=True)]
        for row, line in zip(found.reshape(int(lead), -1), want, strict=True):
            assert np.allclose(row[: line.size].astype(float), line), case
            assert not row[line.size :].any(), case
