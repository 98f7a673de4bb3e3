"""Attention over pages, prompts and caches, and fused layers, match torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from suite_arguments import arguments_of, direction, results_of

torch = pytest.importorskip("torch")
attention = torch.nn.functional.scaled_dot_product_attention


def of(x: Any) -> Any:
    return torch.from_numpy(np.ascontiguousarray(x, dtype=np.float64))


def heads_of(rows: Any, heads: int) -> Any:
    """Reshape rows [S, H · D] to [1, H, S, D]."""
    return rows.unflatten(1, (heads, rows.shape[1] // heads)).transpose(0, 1)[None]


def widened(x: Any, heads: int) -> Any:
    return x.repeat_interleave(heads // x.shape[1], 1)


def test_pages() -> None:
    for case, given in arguments_of("diopiPagedAttention"):
        want = of(results_of("diopiPagedAttention", given)["out"])
        size, few = given["block_size"], given["num_kv_heads"]
        for n, length in enumerate(given["actual_seq_lengths"]):
            keys, values = [], []
            for t in range(length):
                at = given["block_table"][n, t // size] * size + t % size
                for x, rows in (("k", keys), ("v", values)):
                    rows.append(given[x].reshape(-1, given["dim"] * few)[at])
            if not length:
                assert not want[n].any()
                continue
            k, v = (widened(heads_of(of(x), few), given["num_heads"]) for x in (keys, values))
            mask = given["attenMask"]
            seen = None
            if mask is not None:
                row = mask[0 if len(mask) == 1 else n, :length]
                seen = torch.from_numpy(~row.astype(bool))[None]
            got = attention(heads_of(of(given["q"][n : n + 1]), given["num_heads"]), k, v, seen)
            np.testing.assert_allclose(got.ravel(), want[n], 1e-12, 1e-12, err_msg=case)


def test_prompts() -> None:
    name = "diopiPromptFlashAttention"
    for case, given in arguments_of(name):
        want, start, longest = of(results_of(name, given)["out"]), 0, given["max_input_len"]
        lengths, mask = given["actual_seq_lengths"], given["atten_mask"]
        for n, length in enumerate(lengths):
            part = slice(start, start + length)
            heads, few = given["num_heads"], given["num_kv_heads"]
            q = heads_of(of(given["query"][part]), heads)
            k, v = (widened(heads_of(of(given[x][part]), few), heads) for x in ("key", "value"))
            seen = None
            if mask is not None:
                # Masks of three dimensions have a matrix for each sequence, or one for all.
                one = mask[n % len(mask)][None] if mask.ndim > 2 else mask
                one = one[:, None] if mask.ndim == 3 else one
                seen = torch.from_numpy(~one[..., :length, :length].astype(bool))
            got = attention(q, k, v, seen)[0].transpose(0, 1).reshape(length, heads * given["dim"])
            np.testing.assert_allclose(got, want[part], 1e-12, 1e-12, err_msg=case)
            start += longest if sum(lengths) != len(want) else length


def rotate(x: Any, positions: Any, count: int, theta: float) -> Any:
    """Rotate the first elements of rows [S, H, D], by multiplication of complex numbers."""
    if not count:
        return x
    base = float(np.float32(theta))
    angle = torch.tensor(positions)[:, None] / base ** (torch.arange(0, count, 2).double() / count)
    pairs = torch.view_as_complex(x[..., :count].unflatten(2, (count // 2, 2)).contiguous())
    by = torch.polar(torch.ones_like(angle), angle)[:, None]
    return torch.cat([torch.view_as_real(pairs * by).flatten(2), x[..., count:]], 2)


def projected(given: dict[str, Any], positions: Any) -> list[Any]:
    """Return queries, keys and values, [S, H, D]."""
    bias = None if given["qkv_bias"] is None else of(given["qkv_bias"]).ravel()
    heads, few = given["local_head_num"], given["local_kv_head_num"]
    rows = torch.nn.functional.linear(of(given["inoutput"]), of(given["qkv_weight"]).T, bias)
    q, k, v = rows.unflatten(1, (heads + 2 * few, given["size_per_head"])).split(
        [heads, few, few], 1
    )
    angles = (positions, given["rotary_embedding"], given["rope_theta"])
    return [rotate(q, *angles), rotate(k, *angles), v]


def caches_of(given: dict[str, Any]) -> list[Any]:
    return [of(given[x]).clone() for x in ("key_cache", "value_cache")]


def compare(name: str, case: str, given: dict[str, Any], out: Any, caches: list[Any]) -> None:
    found = results_of(name, given)
    names = ("inoutput", "key_cache", "value_cache")
    for output, got in zip(names, (out, *caches), strict=True):
        want = found[output].astype(np.float64)
        np.testing.assert_allclose(got, want, 1e-12, 1e-12, err_msg=f"{case}: {output}")


def test_fused_prompts() -> None:
    name = "diopiFusedContextAttentionInp"
    for case, given in arguments_of(name):
        length, end = given["max_q_len"], given["max_kv_len"]
        batch, layer = given["key_cache"].shape[1], given["layer_id"]
        places = np.tile(np.arange(end - length, end), batch).astype(np.float64)
        q, k, v = projected(given, places)
        out, caches = torch.zeros_like(of(given["inoutput"])), caches_of(given)
        seen = torch.ones(length, end, dtype=torch.bool).tril(end - length)
        for n in range(batch):
            rows = slice(n * length, (n + 1) * length)
            for cache, x in zip(caches, (k, v), strict=True):
                cache[layer, n, :, end - length : end] = x[rows].transpose(0, 1)
            keys, values = (widened(x[layer, n, None, :, :end], q.shape[1]) for x in caches)
            got = attention(q[rows].transpose(0, 1)[None], keys, values, seen)
            out[rows] = got[0].transpose(0, 1).reshape(out[rows].shape)
        compare(name, case, given, out, caches)


def test_fused_tokens() -> None:
    name = "diopiFusedDecoderAttentionInp"
    for case, given in arguments_of(name):
        places = given["step"] - 1 - given["total_padding_tokens"].astype(np.float64)
        q, k, v = projected(given, places)
        out, caches, layer = of(given["inoutput"]).clone(), caches_of(given), given["layer_id"]
        for n, length in enumerate(given["sequence_lengths"]):
            if given["finished"][n]:
                continue
            for cache, x in zip(caches, (k, v), strict=True):
                cache[layer, n, :, length % given["max_seq_len"]] = x[n]
            # The order of keys does not matter: a full ring buffer is used in storage order.
            end = min(length + 1, given["max_seq_len"])
            keys, values = (widened(x[layer, n, None, :, :end], q.shape[1]) for x in caches)
            out[n] = attention(q[n][None, :, None], keys, values).ravel()
        compare(name, case, given, out, caches)


def test_the_last_token_of_a_fused_prompt_is_a_new_token_behind_it() -> None:
    """Decode at the same position and the same slot of the cache."""
    layer = dict(
        qkv_weight=direction("weight", np.zeros((8, 16))),
        qkv_bias=direction("bias", np.zeros(16)),
        key_cache=direction("keys", np.zeros((1, 1, 1, 8, 4))),
        value_cache=direction("values", np.zeros((1, 1, 1, 8, 4))),
        **dict(layer_id=0, local_head_num=2, local_kv_head_num=1, size_per_head=4),
        **dict(max_seq_len=8, rotary_embedding=4, rope_theta=100.0),
        **dict(workspace=None, workspace_size=0, fusion_level=0),
    )
    rows = direction("rows", np.zeros((5, 8)))
    prompt = dict(pre_work=None, pre_work_size=0, is_prepared=True)
    name = "diopiFusedContextAttentionInp"
    whole = results_of(name, {**layer, **prompt, "inoutput": rows, "max_q_len": 5, "max_kv_len": 5})
    part = results_of(
        name, {**layer, **prompt, "inoutput": rows[:4], "max_q_len": 4, "max_kv_len": 4}
    )
    last = results_of(
        "diopiFusedDecoderAttentionInp",
        {
            **layer,
            "inoutput": rows[4:],
            "key_cache": part["key_cache"],
            "value_cache": part["value_cache"],
            "finished": np.array([False]),
            "total_padding_tokens": np.array([1]),
            "sequence_lengths": np.array([4]),
            "step": 6,
        },
    )
    for output, want in (
        ("inoutput", whole["inoutput"][4:]),
        ("key_cache", whole["key_cache"]),
        ("value_cache", whole["value_cache"]),
    ):
        assert np.abs(last[output] - want).max() < 1e-17
