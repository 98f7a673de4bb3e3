"""DIOPI's attention matches torch's, gradients match derivatives, dropout is checked by weight."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from suite_arguments import arguments_of, direction, results_of, slope

OPERATORS = {
    "diopiMultiHeadAttention": ("out", "grad_out"),
    "diopiFlashAttention": ("attention_out", "grad_output"),
    "diopiCustomizedFlashAttention": ("attention_out", "grad_output"),
}


def heads_second(x: Any, layout: str, heads: int) -> Any:
    """Return a torch tensor with shape [N, H, S, D]."""
    if layout == "BNSD":
        return x
    if layout == "SBH":
        x = x.transpose(0, 1)
    if layout in ("BSH", "SBH"):
        x = x.unflatten(2, (heads, x.shape[2] // heads))
    return x.transpose(1, 2)


def bias_of(given: dict[str, Any], queries: int, keys: int) -> np.ndarray:
    """Return the bias of the scores, computed one by one."""
    left, right = (given.get(f"window_size_{x}", -1) for x in ("left", "right"))
    slopes, mask = given.get("alibi_slopes"), given.get("attention_mask")
    batch = 1 if slopes is None or slopes.ndim == 1 else len(slopes)
    heads = 1 if slopes is None else slopes.shape[-1]
    bias = np.zeros((batch, heads, queries, keys))
    for n, h, i, j in np.ndindex(bias.shape):
        place = i + max(0, keys - queries)
        if slopes is not None:
            slope_of = slopes[h] if slopes.ndim == 1 else slopes[n, h]
            bias[n, h, i, j] -= slope_of * abs(place - j)
        out_of_window = 0 <= left < place - j or 0 <= right < j - place
        if out_of_window or (given["is_causal"] and j > place):
            bias[n, h, i, j] = -np.inf
    return bias if mask is None else np.where(mask.astype(bool), -np.inf, bias)


@pytest.mark.parametrize("name", OPERATORS)
def test_output_is_that_of_torch(name: str) -> None:
    torch = pytest.importorskip("torch")
    compared = 0
    for case, given in arguments_of(name):
        if given.get("p_dropout") or given.get("dropout_p") or not given["q"].size:
            continue
        if not given["k"].size:
            continue
        layout, heads = given.get("input_layout", "BSND"), given.get("head_num", 0)
        q = heads_second(torch.from_numpy(given["q"].astype(np.float64)), layout, heads)
        k, v = (torch.from_numpy(given[x].astype(np.float64)) for x in "kv")
        few = k.shape[-1] // q.shape[3] if heads else 0
        k, v = (heads_second(x, layout, few) for x in (k, v))
        k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
        bias = torch.from_numpy(bias_of(given, q.shape[2], k.shape[2]))
        scale = given.get("scale", float(np.float32(given.get("softmax_scale", 0))))
        got = torch.nn.functional.scaled_dot_product_attention(q, k, v, bias, scale=scale)
        want = torch.from_numpy(results_of(name, given)[OPERATORS[name][0]].astype(np.float64))
        want = heads_second(want, layout, heads)
        # Torch does not define the output of a query without keys.
        seen = torch.isfinite(bias).any(-1).expand(q.shape[:3])
        np.testing.assert_allclose(got[seen], want[seen], rtol=1e-12, atol=1e-12, err_msg=case)
        assert not want[~seen].any()
        compared += 1
    assert compared


def with_results(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a gradient with exact results of the forward pass."""
    kept = given.get("softmax_out")
    forward = {**given, "gen": kept["gen"]} if isinstance(kept, dict) else dict(given)
    found = {
        k: v for k, v in results_of(name, forward).items() if k in given and k != "softmax_out"
    }
    return {**forward, **{k: v for k, v in found.items() if v.dtype != object}}


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


def test_dropout_leaves_out_weights_and_enlarges_others() -> None:
    """Use unit vectors as values, so that the output equals the weights."""
    q = direction("queries", np.zeros((1, 6, 2, 3)))
    k = direction("keys", np.zeros((1, 5, 2, 3)))
    v = np.broadcast_to(np.eye(5, dtype=np.longdouble)[None, :, None], (1, 5, 2, 5)).copy()
    given = dict(q=q, k=k, v=v, is_causal=False, scale=0.5, gen=None, return_debug_mask=True)
    given["debug_attn_mask"] = True
    name = "diopiMultiHeadAttention"
    whole = results_of(name, {**given, "dropout_p": 0.0})
    part = results_of(name, {**given, "dropout_p": 0.25, "gen": (7, 3)})
    kept = part["debug_attn_mask"].swapaxes(1, 2)
    assert whole["debug_attn_mask"].all()
    assert 0 < np.sum(~kept) < kept.size
    want = np.where(kept, whole["out"] / np.longdouble(0.75), 0)
    assert np.abs(part["out"] - want).max() < 1e-18
    assert np.array_equal(part["softmax_lse"], whole["softmax_lse"])
