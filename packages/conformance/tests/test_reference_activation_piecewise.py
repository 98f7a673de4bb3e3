"""Leaky ReLU fused with a bias matches torch, its gradient matches numerical derivatives."""

from __future__ import annotations

import numpy as np
import pytest

from suite_arguments import arguments_of, direction, results_of, slope

NAME = "diopiFusedBiasLeakyreluMmcv"


def test_function_is_that_of_torch() -> None:
    torch = pytest.importorskip("torch")
    compared = 0
    for case, given in arguments_of(NAME):
        if given["grad"] != 0:
            continue
        x = torch.from_numpy(given["input"].astype(np.float64)).reshape(given["input"].shape)
        if given["bias"] is not None and given["bias"].size:
            bias = torch.from_numpy(given["bias"].astype(np.float64))
            x = x + bias.reshape(1, -1, *(1 for _ in x.shape[2:]))
        if given["act"] == 3:
            x = torch.nn.functional.leaky_relu(x, float(np.float32(given["alpha"])))
        want = results_of(NAME, given)["out"].astype(np.float64)
        np.testing.assert_allclose(
            (x * float(np.float32(given["scale"]))).numpy(), want, rtol=1e-12, err_msg=case
        )
        compared += 1
    assert compared > 5


def test_first_derivative_is_the_slope() -> None:
    for case, given in arguments_of(NAME):
        if given["grad"] != 0 or not given["input"].size:
            continue
        result = results_of(NAME, given)["out"]
        if given["alpha"] < 0 or given["scale"] < 0:
            continue  # the result does not determine the sign of the input
        grad = direction(f"{case} grad", given["input"])
        along = direction(f"{case} along", given["input"])
        asked = {**given, "input": grad, "bias": None, "refer": result, "grad": 1}
        got = np.sum(results_of(NAME, asked)["out"] * along)
        want = slope(NAME, "out", grad, given, "input", along)
        assert abs(got - want) < 1e-8 * (1 + abs(want)), case
