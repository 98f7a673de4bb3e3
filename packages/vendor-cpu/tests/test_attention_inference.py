"""Attention while serving a language model."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import numbers, out_like

OPERATORS = (
    *("DestIndexCopyKV", "TokenAttentionInference", "TokenSoftmaxReduceVInference"),
    "ContextAttentionInference",
)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


def test_the_last_token_of_a_prompt_is_a_new_token_over_it(vendor: Vendor) -> None:
    """One call for the whole prompt; scores and values of its last token, from a pool."""
    q, k, v = (vendor.tensor(numbers((5, 2, 4), "float64", 300 + i)) for i in range(3))
    whole = out_like(vendor, (5, 2, 4), "float64")
    start, length = vendor.tensor(np.array([0])), vendor.tensor(np.array([5]))
    vendor.op.ContextAttentionInference(whole, q, k, v, start, length, 5)
    places = vendor.tensor(np.arange(5)[None])
    last, scores = q.as_strided((1, 2, 4), (8, 4, 1), 32), out_like(vendor, (2, 5), "float64")
    vendor.op.TokenAttentionInference(scores, last, k, places, start, length, 5)
    out = out_like(vendor, (1, 2, 4), "float64")
    vendor.op.TokenSoftmaxReduceVInference(out, scores, v, places, start, length, 5, 0)
    np.testing.assert_allclose(out.numpy()[0], whole.numpy()[4], rtol=1e-13)


def test_places_outside_of_the_pool_are_told(vendor: Vendor) -> None:
    pool, k = out_like(vendor, (3, 1, 2), "float32"), out_like(vendor, (1, 1, 2), "float32")
    with pytest.raises(OperatorError, match="index 3 at position 0 is out of range"):
        vendor.op.DestIndexCopyKV(pool, k, vendor.tensor(np.array([3])))
    out, one = out_like(vendor, (1, 2), "float32"), vendor.tensor(np.array([0]))
    bad = vendor.tensor(np.array([[0, 3]]))
    with pytest.raises(OperatorError, match="index 3 at position 1 is out of range"):
        vendor.op.TokenAttentionInference(out, k, pool, bad, one, vendor.tensor(np.array([2])), 2)
    with pytest.raises(OperatorError, match="index 3 at position 0 is out of range"):
        vendor.op.TokenAttentionInference(out, k, pool, bad, one, vendor.tensor(np.array([3])), 2)
