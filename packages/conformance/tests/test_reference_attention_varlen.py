"""Packed attention equals attention computed separately for each sequence, and gradients match
numerical derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from suite_arguments import arguments_of, direction, results_of, slope
from test_reference_attention import bias_of, with_results

OPERATORS = {
    "diopiMultiHeadAttentionVarLen": ("out", "grad_out"),
    "diopiFlashAttentionVarLen": ("attention_out", "grad_output"),
    "diopiCustomizedFlashAttentionVarLen": ("attention_out", "grad_output"),
}


def ends_of(given: dict[str, Any]) -> list[list[int]]:
    """Return cumulative lengths of queries and of keys, starting with 0."""
    keys = "cum_seq_k" if "cum_seq_k" in given else "cum_seq_kv"
    both = [[int(x) for x in given[name]] for name in ("cum_seq_q", keys)]
    return [[0, *x] if isinstance(given[keys], tuple) else x for x in both]


def of_sequence(given: dict[str, Any], n: int, queries: int, keys: int) -> dict[str, Any]:
    """Return the options of a packed call, restricted to sequence ``n``."""
    found = dict(given)
    slopes, mask = given.get("alibi_slopes"), given.get("attention_mask")
    if slopes is not None and slopes.ndim == 2:
        found["alibi_slopes"] = slopes[n]
    if mask is not None:
        found["attention_mask"] = (
            mask[n : n + 1, :, :queries, :keys] if mask.ndim == 4 else (mask[:queries, :keys])
        )
    return found


@pytest.mark.parametrize("name", OPERATORS)
def test_output_is_that_of_torch_for_each_sequence(name: str) -> None:
    torch = pytest.importorskip("torch")
    compared = 0
    for case, given in arguments_of(name):
        if given.get("p_dropout") or given.get("dropout_p"):
            continue
        want = results_of(name, given)[OPERATORS[name][0]].astype(np.float64)
        ends = ends_of(given)
        scale = given.get("scale", float(np.float32(given.get("softmax_scale", 0))))
        for n in range(len(ends[0]) - 1):
            parts = [slice(x[n], x[n + 1]) for x in ends]
            q, k, v = (
                torch.from_numpy(given[x][part].astype(np.float64)).transpose(0, 1)[None]
                for x, part in zip("qkv", (parts[0], parts[1], parts[1]), strict=True)
            )
            if not k.shape[2] or not q.shape[2]:
                assert not want[parts[0]].any()
                continue
            k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
            one = of_sequence(given, n, q.shape[2], k.shape[2])
            bias = torch.from_numpy(bias_of(one, q.shape[2], k.shape[2]))
            got = torch.nn.functional.scaled_dot_product_attention(q, k, v, bias, scale=scale)
            seen = torch.isfinite(bias).any(-1).expand(q.shape[:3])
            whole = torch.from_numpy(want[parts[0]]).transpose(0, 1)[None]
            np.testing.assert_allclose(got[seen], whole[seen], 1e-12, 1e-12, err_msg=case)
            assert not whole[~seen].any()
            compared += 1
    assert compared


@pytest.mark.parametrize("name", OPERATORS)
def test_gradients_are_slopes(name: str) -> None:
    output, incoming = OPERATORS[name]
    for case, arguments in arguments_of(f"{name}Backward"):
        given = with_results(name, arguments)
        found = results_of(f"{name}Backward", given)
        for variable in "qkv":
            got = found[f"grad_{variable}"]
            along = direction(f"{case} {variable}", given[variable])
            want = slope(name, output, given[incoming], given, variable, along)
            error = abs(np.sum(got * along) - want)
            assert error < 1e-8 * (1 + np.sum(np.abs(got))), f"{case}: {variable} off by {error}"


def test_dropout_drops_the_same_weights_as_in_a_padded_batch() -> None:
    """Compare two sequences of 3 queries and 4 keys, packed and as a batch."""
    q, k, v = (direction(x, np.zeros((2, n, 2, 4))) for x, n in (("q", 3), ("k", 4), ("v", 4)))
    heads = dict(dropout_p=0.5, is_causal=True, scale=0.5, gen=(9, 2))
    batch = results_of("diopiMultiHeadAttention", dict(q=q, k=k, v=v, **heads))
    packed = results_of(
        "diopiMultiHeadAttentionVarLen",
        dict(
            q=q.reshape(6, 2, 4),
            k=k.reshape(8, 2, 4),
            v=v.reshape(8, 2, 4),
            cum_seq_q=np.array([0, 3, 6]),
            cum_seq_k=np.array([0, 4, 8]),
            max_q=3,
            max_k=4,
            **heads,
        ),
    )
    assert np.array_equal(packed["out"], batch["out"].reshape(6, 2, 4))
    assert np.array_equal(packed["softmax_lse"], batch["softmax_lse"])
