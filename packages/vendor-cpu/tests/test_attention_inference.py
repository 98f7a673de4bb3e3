"""Tests of attention in language-model serving."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Tensor, Vendor
from suite import check_cases
from support import Array, numbers, out_like

OPERATORS = (
    *("DestIndexCopyKV", "TokenAttentionInference", "TokenSoftmaxReduceVInference"),
    *("ContextAttentionInference", "PagedAttention", "PromptFlashAttention"),
    *("FusedContextAttentionInp", "FusedDecoderAttentionInp"),
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


def test_positions_outside_the_pool_are_reported(vendor: Vendor) -> None:
    pool, k = out_like(vendor, (3, 1, 2), "float32"), out_like(vendor, (1, 1, 2), "float32")
    with pytest.raises(OperatorError, match="index 3 at position 0 is out of range"):
        vendor.op.DestIndexCopyKV(pool, k, vendor.tensor(np.array([3])))
    out, one = out_like(vendor, (1, 2), "float32"), vendor.tensor(np.array([0]))
    bad = vendor.tensor(np.array([[0, 3]]))
    with pytest.raises(OperatorError, match="index 3 at position 1 is out of range"):
        vendor.op.TokenAttentionInference(out, k, pool, bad, one, vendor.tensor(np.array([2])), 2)
    with pytest.raises(OperatorError, match="index 3 at position 0 is out of range"):
        vendor.op.TokenAttentionInference(out, k, pool, bad, one, vendor.tensor(np.array([3])), 2)


def of(vendor: Vendor, shape: tuple[int, ...], seed: int, dtype: str = "float64") -> Tensor:
    return vendor.tensor(numbers(shape, dtype, seed).astype(dtype))


def test_pages_are_a_pool_in_another_order(vendor: Vendor) -> None:
    """Keys of a prompt, scattered over pages, with the expected result of its last token."""
    q, k, v = (of(vendor, (7, 12), 310 + i) for i in range(3))
    whole = out_like(vendor, (7, 12), "float64")
    vendor.op.PromptFlashAttention(whole, q, k, v, None, [7], 7, 3, 3, 4)
    pages = [np.full((10, 12), np.nan) for _ in "kv"]
    for at, page in enumerate([4, 1, 0, 2]):
        for to, rows in zip(pages, (k, v), strict=True):
            some = rows.numpy()[2 * at : 2 * at + 2]
            to[2 * page : 2 * page + len(some)] = some
    table = vendor.tensor(np.array([[4, 1, 0, 2, -5]]))
    out, last = out_like(vendor, (1, 12), "float64"), vendor.tensor(q.numpy()[6:])
    vendor.op.PagedAttention(out, last, *map(vendor.tensor, pages), None, [7], 3, 3, 4, table, 2)
    np.testing.assert_allclose(out.numpy()[0], whole.numpy()[6], rtol=1e-13)


def test_padding_of_prompts_is_not_read_and_gets_zeros(vendor: Vendor) -> None:
    arrays = [numbers((7, 8), "float32", 320 + i).astype(np.float32) for i in range(3)]
    packed = out_like(vendor, (7, 8), "float32")
    vendor.op.PromptFlashAttention(packed, *map(vendor.tensor, arrays), None, [3, 4], 5, 2, 2, 4)
    padded = [np.full((10, 8), np.nan, np.float32) for _ in arrays]
    for to, rows in zip(padded, arrays, strict=True):
        to[:3], to[5:9] = rows[:3], rows[3:]
    out = out_like(vendor, (10, 8), "float32")
    vendor.op.PromptFlashAttention(out, *map(vendor.tensor, padded), None, [3, 4], 5, 2, 2, 4)
    found = out.numpy()
    assert np.array_equal(np.concatenate([found[:3], found[5:9]]), packed.numpy())
    assert not found[3:5].any() and not found[9].any()


class Layer:
    """A fused layer of two query heads and one key head."""

    def __init__(self, vendor: Vendor, batch: int = 2, dtype: str = "float64") -> None:
        self.vendor = vendor
        self.weight, self.bias = of(vendor, (8, 16), 330, dtype), of(vendor, (16,), 331, dtype)
        self.caches = [of(vendor, (2, batch, 1, 6, 4), 332 + i, dtype) for i in range(2)]
        self.sizes: dict[str, Any] = dict(
            layer_id=1,
            local_head_num=2,
            local_kv_head_num=1,
            size_per_head=4,
            max_seq_len=6,
            rotary_embedding=4,
            rope_theta=100.0,
            fusion_level=0,
            workspace=None,
            workspace_size=0,
        )

    def _named(self, rows: Tensor) -> dict[str, Any]:
        keys, values = self.caches
        return dict(
            self.sizes,
            inoutput=rows,
            qkv_weight=self.weight,
            qkv_bias=self.bias,
            key_cache=keys,
            value_cache=values,
        )

    def prompt(self, rows: Array, end: int, **more: Any) -> Array:
        x = self.vendor.tensor(rows)
        length = len(rows) // self.caches[0].shape[1]
        prepared = dict(pre_work=None, pre_work_size=0, is_prepared=True)
        sizes = dict(max_q_len=length, max_kv_len=end)
        self.vendor.op.FusedContextAttentionInp(**{**self._named(x), **prepared, **sizes, **more})
        return x.numpy()

    def token(self, rows: Array, lengths: list[int], **more: Any) -> Array:
        x, count = self.vendor.tensor(rows), len(rows)
        given = dict(
            finished=self.vendor.tensor(np.zeros(count, bool)),
            total_padding_tokens=self.vendor.tensor(np.zeros(count, np.int64)),
            sequence_lengths=self.vendor.tensor(np.array(lengths)),
            step=lengths[0] + 1,
        )
        self.vendor.op.FusedDecoderAttentionInp(**{**self._named(x), **given, **more})
        return x.numpy()


def test_a_prompt_is_its_tokens_one_after_the_other(vendor: Vendor) -> None:
    rows = numbers((2, 5, 8), "float64", 340)
    whole, parts = Layer(vendor), Layer(vendor)
    want = whole.prompt(rows.reshape(10, 8), 5).reshape(2, 5, 8)
    got = [parts.prompt(rows[:, :2].reshape(4, 8), 2).reshape(2, 2, 8)]
    got.append(parts.prompt(rows[:, 2:3].reshape(2, 8), 3).reshape(2, 1, 8))
    got += [parts.token(rows[:, at].copy(), [at, at])[:, None] for at in (3, 4)]
    np.testing.assert_allclose(np.concatenate(got, 1), want, rtol=1e-12)
    for one, other in zip(whole.caches, parts.caches, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-12)


def test_only_the_places_of_new_tokens_change(vendor: Vendor) -> None:
    layer = Layer(vendor, dtype="float32")
    before = [x.numpy().copy() for x in layer.caches]
    layer.prompt(numbers((4, 8), "float32", 350).astype(np.float32), 5)
    rows = numbers((2, 8), "float32", 351).astype(np.float32)
    done = vendor.tensor(np.array([False, True]))
    # The length of a finished sequence is ignored.
    after = layer.token(rows.copy(), [7, -3], finished=done)
    assert np.array_equal(after[1], rows[1]) and not np.array_equal(after[0], rows[0])
    for old, cache in zip(before, layer.caches, strict=True):
        changed = np.any(cache.numpy() != old, axis=-1)
        want = np.zeros_like(changed)
        want[1, :, 0, 3:5] = True
        want[1, 0, 0, 7 % 6] = True
        assert np.array_equal(changed, want)


def test_asking_and_preparing_write_nothing(vendor: Vendor) -> None:
    layer, rows = Layer(vendor), numbers((4, 8), "float64", 360)
    before = [x.numpy().copy() for x in layer.caches]
    x = vendor.tensor(rows)
    named = dict(
        layer._named(x), pre_work=None, pre_work_size=-1, workspace_size=-1, is_prepared=False
    )
    sizes = vendor.op.FusedContextAttentionInp(**named, max_q_len=2, max_kv_len=2)
    assert sizes == (0, 0)
    assert np.array_equal(layer.prompt(rows, 2, is_prepared=False), rows)
    assert np.array_equal(x.numpy(), rows)
    assert layer.token(rows[:2], [0, 0], workspace_size=-1) is not None
    for old, cache in zip(before, layer.caches, strict=True):
        assert np.array_equal(cache.numpy(), old)


def test_bad_pages_and_prompts_are_reported(vendor: Vendor) -> None:
    x, pages = out_like(vendor, (2, 8), "float32"), out_like(vendor, (6, 4), "float32")
    table = vendor.tensor(np.array([[2, 0], [1, 3]]))

    def paged(lengths: Any = (3, 1), mask: Any = None, **sizes: int) -> None:
        named = {"num_heads": 2, "num_kv_heads": 1, "dim": 4, "block_size": 2, **sizes}
        vendor.op.PagedAttention(
            out=out_like(vendor, (2, 8), "float32"), q=x, k=pages, v=pages, attenMask=mask,
            actual_seq_lengths=lengths, block_table=table, **named,
        )  # fmt: skip

    paged()
    for name in ("num_heads", "num_kv_heads", "dim", "block_size"):
        with pytest.raises(OperatorError, match=f"{name} is 0; it must be at least 1"):
            paged(**{name: 0})
    with pytest.raises(OperatorError, match=r"q has the shape \[2, 8\]; it needs \[3, 8\]"):
        paged((1, 1, 1))
    with pytest.raises(
        OperatorError, match="sequence 1 has 5 tokens; block_table has 2 blocks of 2"
    ):
        paged((3, 5))
    with pytest.raises(OperatorError, match="sequence 0 has -1 tokens"):
        paged((-1, 1))
    with pytest.raises(OperatorError, match="index 3 at position 3 is out of range"):
        paged((3, 3))
    with pytest.raises(OperatorError, match=r"k has 6 rows; .* a multiple of block_size, 4"):
        paged(block_size=4)
    with pytest.raises(OperatorError, match=r"a row of .* heads of .* overflows int64"):
        paged(num_heads=1 << 40, dim=1 << 40)
    with pytest.raises(OperatorError, match="mask must have 1 or 2 rows and at least 3 columns"):
        paged(mask=out_like(vendor, (2, 2), "bool"))

    rows = out_like(vendor, (5, 8), "float32")

    def prompts(*lengths: int, longest: int = 3, heads: int = 2) -> None:
        out = out_like(vendor, (5, 8), "float32")
        vendor.op.PromptFlashAttention(out, rows, rows, rows, None, lengths, longest, heads, 2, 4)

    prompts(3, 2)
    with pytest.raises(OperatorError, match="query has 5 rows; the sequences have 4 tokens"):
        prompts(3, 1)
    with pytest.raises(OperatorError, match="sequence 1 has 4 tokens; it must have 0 to"):
        prompts(1, 4)
    with pytest.raises(OperatorError, match="sequence 0 has -1 tokens"):
        prompts(-1, 3, 3)
    with pytest.raises(OperatorError, match="max_input_len is -1"):
        prompts(longest=-1)
    with pytest.raises(OperatorError, match="query has 4 heads of 2"):
        prompts(3, 2, heads=4)


def test_bad_fused_layers_are_reported(vendor: Vendor) -> None:
    layer, rows = Layer(vendor), numbers((4, 8), "float64", 370)
    before = [x.numpy().copy() for x in layer.caches]
    for name, value, said in (
        ("layer_id", 2, "layer_id is 2; the caches have 2 layers"),
        ("layer_id", -1, "layer_id is -1"),
        ("rotary_embedding", 3, "rotary_embedding is 3; it must be even"),
        ("rotary_embedding", 6, "rotary_embedding is 6"),
        ("local_head_num", 3, r"inoutput has the shape \[4, 8\]; it needs \[\*, 12\]"),
        ("local_kv_head_num", 2, r"qkv_weight has the shape \[8, 16\]; it needs \[8, 24\]"),
        ("local_kv_head_num", 0, "local_kv_head_num is 0; it must be at least 1"),
        ("size_per_head", 1 << 62, "overflow int64|needs"),
        ("max_seq_len", 5, "key_cache has the shape"),
        ("fusion_level", -1, "fusion_level is -1"),
        ("max_kv_len", 7, "max_q_len, max_kv_len and max_seq_len are 2, 7 and 6"),
        ("max_kv_len", 1, "max_q_len, max_kv_len and max_seq_len are 2, 1 and 6"),
        ("max_q_len", 1, "inoutput has 4 tokens; 2 sequences of 1 need 2"),
    ):
        with pytest.raises(OperatorError, match=said):
            layer.prompt(rows, 2, **{name: value})
    with pytest.raises(OperatorError, match="inoutput has 4 tokens; it needs one for each of 2"):
        layer.token(rows, [1, 1])
    for old, cache in zip(before, layer.caches, strict=True):
        assert np.array_equal(cache.numpy(), old)
    with pytest.raises(OperatorError, match="index -1 at position 1 is out of range"):
        layer.token(rows[:2], [1, -1])
