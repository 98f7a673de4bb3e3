"""Upsampling, filtering and downsampling match torch's transposed convolution."""

from __future__ import annotations

import numpy as np
import pytest

from suite_arguments import arguments_of, results_of

NAME = "diopiUpfirdn2dOpMmcv"


def test_it_is_a_part_of_a_transposed_convolution() -> None:
    torch = pytest.importorskip("torch")
    compared = 0
    for case, given in arguments_of(NAME):
        input, kernel = (torch.from_numpy(given[x].astype(np.float64)) for x in ("input", "kernel"))
        if not input.numel():
            continue
        planes = input.flatten(0, 1)[:, None]
        up = given["up_y"], given["up_x"]
        # Each cell contributes a copy of the kernel from its position on; all other cells are 0.
        whole = torch.nn.functional.conv_transpose2d(planes, kernel[None, None], stride=up)
        ends = []
        for d, size, at in (("x", kernel.shape[1], 3), ("y", kernel.shape[0], 2)):
            first = given[f"pad_{d}0"] - (size - 1)
            stretched = input.shape[at] * given[f"up_{d}"]
            count = stretched + given[f"pad_{d}0"] + given[f"pad_{d}1"] - size + 1
            ends += [first, count - first - whole.shape[at]]
        inside = torch.nn.functional.pad(whole, ends)
        got = inside[..., :: given["down_y"], :: given["down_x"]]
        want = results_of(NAME, given)["out"].astype(np.float64)
        got = got.reshape(*input.shape[:2], *got.shape[2:]).numpy()
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12, err_msg=case)
        compared += 1
    assert compared > 5


def test_a_filter_of_one_cell_at_the_end_keeps_the_image() -> None:
    image = np.arange(12, dtype=np.longdouble).reshape(1, 1, 3, 4)
    kernel = np.zeros((2, 2), np.longdouble)
    kernel[1, 1] = 1  # the first element after flipping
    numbers = dict.fromkeys(("up_x", "up_y", "down_x", "down_y"), 1)
    ends = {"pad_x0": 0, "pad_x1": 1, "pad_y0": 0, "pad_y1": 1}
    got = results_of(NAME, {"input": image, "kernel": kernel, **numbers, **ends})["out"]
    assert np.array_equal(got, image)
