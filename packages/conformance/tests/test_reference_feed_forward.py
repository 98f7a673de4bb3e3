"""Gated feed-forward layers match torch."""

from __future__ import annotations

import numpy as np
import pytest

from suite_arguments import arguments_of, results_of

NAME = "diopiFusedSiluFfnInp"


def test_gated_layers() -> None:
    torch = pytest.importorskip("torch")
    names = ("inoutput", "weight1", "weight2", "weight3")
    for case, given in arguments_of(NAME):
        x, upper, lower, by = (torch.from_numpy(given[n].astype(np.float64)) for n in names)
        got = (torch.nn.functional.silu(x @ upper) * (x @ by)) @ lower
        want = results_of(NAME, given)["inoutput"].astype(np.float64)
        np.testing.assert_allclose(got, want, 1e-12, 1e-12, err_msg=case)
