"""CARAFE matches torch's unfold, and gradients match numerical derivatives."""

from __future__ import annotations

import numpy as np
import pytest

from suite_arguments import arguments_of, direction, results_of, slope

FORWARD = "diopiCarafeNaiveMmcv"


@pytest.mark.parametrize("name", ["diopiCarafeMmcv", FORWARD])
def test_output_is_that_of_windows(name: str) -> None:
    torch = pytest.importorskip("torch")
    for case, given in arguments_of(name):
        features, masks = (
            torch.from_numpy(given[x].astype(np.float64)) for x in ("features", "masks")
        )
        if not features.numel():
            continue
        kernel, groups, scale = (given[x] for x in ("kernel_size", "group_size", "scale_factor"))
        n, channels, height, width = features.shape
        windows = torch.nn.functional.unfold(features, kernel, padding=kernel // 2)
        windows = windows.reshape(n, channels * kernel**2, height, width)
        wide = torch.nn.functional.interpolate(windows, scale_factor=scale)
        plane = wide.shape[2:]
        wide = wide.reshape(n, groups, channels // groups, kernel**2, *plane)
        shares = masks.reshape(n, groups, 1, kernel**2, *plane)
        got = (wide * shares).sum(3).reshape(n, channels, *plane)
        want = results_of(name, given)["output"].astype(np.float64)
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-12, atol=1e-12, err_msg=case)


@pytest.mark.parametrize("name", ["diopiCarafeBackwardMmcv", "diopiCarafeNaiveBackwardMmcv"])
def test_gradients_are_slopes(name: str) -> None:
    for case, given in arguments_of(name):
        found = results_of(name, given)
        if "rfeatures" in given:
            given["features"] = np.moveaxis(given["rfeatures"], -1, 1)
        for variable, gradient in (("features", "bottom_grad"), ("masks", "mask_grad")):
            got = found[gradient] - given.get(gradient, 0)
            along = direction(f"{case} {variable}", given[variable])
            want = slope(FORWARD, "output", given["top_grad"], given, variable, along)
            error = abs(np.sum(got * along) - want)
            assert error < 1e-8 * (1 + np.sum(np.abs(got))), f"{case}: {gradient} off by {error}"


def test_constant_masks_are_means_of_windows() -> None:
    features = direction("means", np.zeros((1, 2, 3, 4)))
    masks = np.full((1, 9, 6, 8), np.longdouble(1) / 9)
    given = {"features": features, "masks": masks, "kernel_size": 3, "group_size": 1}
    got = results_of(FORWARD, {**given, "scale_factor": 2})["output"]
    padded = np.pad(features, ((0, 0), (0, 0), (1, 1), (1, 1)))
    for y, x in np.ndindex(6, 8):
        window = padded[..., y // 2 : y // 2 + 3, x // 2 : x // 2 + 3]
        assert np.abs(got[..., y, x] - window.mean(axis=(2, 3))).max() < 1e-18
