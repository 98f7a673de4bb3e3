"""Deformable convolution matches torch's grid_sample and convolution, and gradients match
numerical derivatives."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest

from dl_conformance.inputs import Array
from suite_arguments import STEP, arguments_of, direction, results_of

FORWARD = ("diopiDeformConvMmcv", "diopiModulatedDeformConvMmcv")
NAMES = (
    ("kernel_", "stride_", "pad_", "dilation_", "hw", "group", "deformable_group"),
    ("k", "d", "pad", "dilation", "HW", "groups", "deform_groups"),
)


def geometry(given: Mapping[str, Any]) -> tuple[list[tuple[int, ...]], int, int]:
    """Return kernel, stride, padding and dilation of both axes, groups and deformable groups."""
    *names, axes, groups, deformable = NAMES[0 if "kernel_h" in given else 1]
    each = [tuple(given[f"{name}{d}"] for name in names) for d in axes]
    return each, given[groups], given[deformable]


def places(given: Mapping[str, Any]) -> Array:
    """Return the positions of the samples, [N, deformable groups · taps, 2, h, w]."""
    (down, right), _, groups = geometry(given)
    offset = given["offset"]
    n, _, *outputs = offset.shape
    found = offset.reshape(n, groups, down[0], right[0], 2, *outputs).copy()
    for i, j in product(range(down[0]), range(right[0])):
        rows = np.arange(outputs[0]) * down[1] - down[2] + i * down[3]
        columns = np.arange(outputs[1]) * right[1] - right[2] + j * right[3]
        found[:, :, i, j, 0] += rows[:, None]
        found[:, :, i, j, 1] += columns
    return np.asarray(found.reshape(n, -1, 2, *outputs))


@pytest.mark.parametrize("name", FORWARD)
def test_samples_are_those_of_grids(name: str) -> None:
    torch = pytest.importorskip("torch")
    for case, given in arguments_of(name):
        (down, right), groups, deformable = geometry(given)
        input, weight = (torch.from_numpy(given[x].astype(np.float64)) for x in ("input", "weight"))
        if not input.numel() or not weight.numel():
            continue
        n, channels, height, width = input.shape
        at = torch.from_numpy(places(given).astype(np.float64)).movedim(2, -1)
        sizes = torch.tensor([height, width], dtype=torch.float64)
        grid = ((2 * at + 1) / sizes - 1).flip(-1)
        taps, outputs = down[0] * right[0], at.shape[2:4]
        planes = input.reshape(n * deformable, -1, height, width)
        found = torch.nn.functional.grid_sample(
            planes, grid.reshape(n * deformable, -1, outputs[1], 2), align_corners=False
        ).reshape(n, deformable, -1, taps, *outputs)
        if "mask" in given:
            mask = torch.from_numpy(given["mask"].astype(np.float64))
            found = found * mask.reshape(n, deformable, 1, taps, *outputs)
        by = weight.reshape(groups, -1, channels // groups, taps)
        columns = found.reshape(n, groups, channels // groups, taps, *outputs)
        got = torch.einsum("gkct,ngctyx->ngkyx", by, columns).reshape(n, -1, *outputs)
        if given.get("with_bias"):
            got = got + torch.from_numpy(given["bias"].astype(np.float64))[:, None, None]
        want = results_of(name, given)["output"].astype(np.float64)
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-11, atol=1e-11, err_msg=case)


@pytest.mark.parametrize("name", FORWARD)
def test_without_moves_it_is_a_convolution(name: str) -> None:
    for case, given in arguments_of(name):
        axes, groups, _ = geometry(given)
        still = {**given, "offset": np.zeros_like(given["offset"])}
        if "mask" in given:
            still["mask"] = np.ones_like(given["mask"])
        if not given["weight"].size:
            continue
        lists = {
            key: tuple(axis[at] for axis in axes)
            for at, key in ((1, "stride"), (2, "padding"), (3, "dilation"))
        }
        plain = results_of(
            "diopiConvolution2d",
            {
                "input": given["input"],
                "weight": given["weight"],
                "bias": given["bias"] if given.get("with_bias") else None,
                "groups": groups,
                **lists,
            },
        )
        want, got = plain["out"], results_of(name, still)["output"]
        assert np.abs(got - want).max(initial=0) < 1e-16, case


def towards_next(name: str, given: Mapping[str, Any]) -> Array:
    """Return the direction of a numerical derivative.

    Offsets move forwards, because the gradient is the right derivative, but not into the plane from
    outside, where there is no sample.
    """
    along = direction(f"move {name}", given[name])
    if name != "offset":
        return along
    outside = places(given).reshape(along.shape) == -1
    return np.where(outside, 0, np.abs(along))


GRADIENTS = {
    "diopiDeformConvBackwardInputMmcv": (
        FORWARD[0],
        "gradOutput",
        {"input": "gradInput", "offset": "gradOffset"},
    ),
    "diopiDeformConvBackwardParametersMmcv": (FORWARD[0], "gradOutput", {"weight": "gradWeight"}),
    "diopiModulatedDeformConvBackwardMmcv": (
        FORWARD[1],
        "grad_output",
        {x: f"grad_{x}" for x in ("input", "weight", "bias", "offset", "mask")},
    ),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_are_slopes(name: str) -> None:
    forward, of, gradients = GRADIENTS[name]
    for case, given in arguments_of(name):
        found = results_of(name, given)
        fixed = {"columns": None, "ones": None, "bias": None, **given}
        if "weight" not in given:
            fixed["weight"] = direction("weight", given["gradWeight"])
        if given.get("with_bias"):
            fixed["bias"] = direction("bias", given["grad_bias"])
        start = results_of(forward, fixed)["output"]
        for variable, gradient in gradients.items():
            got = found.get(gradient)
            if got is None:
                continue
            got = got - given.get(gradient, 0)
            if fixed[variable] is None or not fixed[variable].size:
                assert not np.any(got), f"{case}: {gradient}"
                continue
            along = towards_next(variable, fixed)
            moved = {**fixed, variable: fixed[variable] + STEP * along}
            change = results_of(forward, moved)["output"] - start
            want = np.sum(change * given[of]) / STEP * np.float32(given.get("scale", 1))
            if variable == "bias" and not given["with_bias"]:
                want = 0
            error = abs(np.sum(got * along) - want)
            scale = 1 + np.sum(np.abs(got * along))
            assert error < 1e-7 * scale, f"{case}: {gradient} is off by {error}"
