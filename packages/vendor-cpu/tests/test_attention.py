"""Tests of attention and its gradients against the written-out formula."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from diopi_proto import Generator, OperatorError, Tensor, Vendor
from diopi_proto.tolerance import OpClass
from suite import check_cases
from support import ACCUMULATE, FLOATS, Array, Exact, check, exact, numbers, out_like, place

OPERATORS = ("FlashAttention", "MultiHeadAttention", "CustomizedFlashAttention")


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("end", ["", "Backward"])
def test_cases_of_the_suite(vendor: Vendor, name: str, end: str) -> None:
    check_cases(vendor, f"diopi{name}{end}")


@dataclass(frozen=True)
class Case:
    """Sizes: samples, heads, key heads, queries, keys, widths of keys and of values."""

    n: int
    h: int
    kh: int
    s: int
    t: int
    d: int
    dv: int
    causal: bool = False
    mask: str = ""
    mask_shape: tuple[int, ...] = ()


CASES = {
    "plain": Case(2, 3, 3, 70, 150, 16, 16),
    "one": Case(1, 1, 1, 1, 1, 1, 1),
    "row": Case(2, 3, 3, 1, 150, 16, 16),
    "row-odd": Case(2, 2, 2, 1, 7, 20, 5),
    "row-narrow": Case(1, 2, 2, 1, 40, 3, 33),
    "row-grouped": Case(2, 6, 2, 1, 66, 40, 24),
    "row-long": Case(1, 2, 2, 1, 1000, 70, 70),
    "row-causal": Case(1, 2, 2, 1, 90, 32, 16, causal=True),
    "row-added": Case(2, 3, 3, 1, 131, 16, 16, mask="same", mask_shape=(2, 3, 1, 131)),
    "row-added-wide": Case(2, 2, 2, 1, 9, 16, 16, mask="wide", mask_shape=(1, 2, 1, 9)),
    "row-padding": Case(2, 2, 1, 1, 131, 16, 16, mask="bool", mask_shape=(2, 1, 1, 131)),
    "odd": Case(1, 2, 2, 5, 7, 3, 5),
    "causal": Case(2, 2, 2, 130, 130, 32, 32, causal=True),
    "causal-wide": Case(1, 2, 2, 9, 200, 32, 16, causal=True),
    "causal-tall": Case(1, 2, 2, 200, 9, 8, 24, causal=True),
    "grouped": Case(2, 6, 2, 65, 66, 16, 16),
    "wide": Case(1, 2, 1, 9, 40, 70, 40),
    "added": Case(2, 3, 3, 66, 131, 16, 16, mask="same", mask_shape=(2, 3, 66, 131)),
    "added-wide": Case(2, 2, 2, 5, 9, 16, 16, mask="wide", mask_shape=(1, 2, 5, 9)),
    "padding": Case(2, 2, 1, 66, 131, 16, 16, mask="bool", mask_shape=(2, 1, 1, 131)),
    "bool": Case(2, 2, 2, 20, 30, 16, 16, mask="bool", mask_shape=(20, 30)),
}


def mask_of(vendor: Vendor, case: Case, dtype: str) -> tuple[Tensor | None, Any]:
    """Return the mask, and what is added to the scores. A boolean mask masks all keys of the first
    query."""
    if not case.mask:
        return None, 0
    if case.mask == "bool":
        allowed = np.random.default_rng(7).random(case.mask_shape) < 0.7
        allowed[..., :1] = True
        if case.mask_shape[-2] > 1:
            allowed[..., 0, :] = False
        return vendor.tensor(allowed), np.where(allowed, Exact(0), -np.inf)
    wanted = ACCUMULATE.get(dtype, dtype) if case.mask == "wide" else dtype
    return place(vendor, numbers(case.mask_shape, wanted, 8), wanted)


@dataclass
class Reference:
    """Attention in extended precision, and the magnitudes of the summed terms."""

    out: Array
    lse: Array
    weights: Array

    @classmethod
    def of(cls, q: Array, k: Array, v: Array, added: Any, scale: float, causal: bool) -> Reference:
        group = q.shape[1] // k.shape[1]
        k, v = k.repeat(group, axis=1), v.repeat(group, axis=1)
        scores = q @ k.swapaxes(-1, -2) * Exact(scale) + added
        if causal:
            hidden = np.triu(np.ones(scores.shape[-2:], bool), 1)
            scores = np.where(hidden, -np.inf, scores)
        top = scores.max(-1, keepdims=True)
        e = np.exp(scores - np.where(np.isinf(top), 0, top))
        total = e.sum(-1, keepdims=True)
        with np.errstate(divide="ignore"):
            lse = (top + np.log(total))[..., 0]
        weights = e / np.where(total == 0, 1, total)
        return cls(weights @ v, lse, weights)


def gradients(
    ref: Reference, o: Array, g: Array, q: Array, k: Array, v: Array, scale: float
) -> tuple[tuple[Array, Array, Array], tuple[Array, Array, Array]]:
    """Return the three gradients, given the stored output, and the same sums of the terms'
    magnitudes."""
    group = q.shape[1] // k.shape[1]
    many = k.repeat(group, axis=1), v.repeat(group, axis=1)

    def fold(a: Array) -> Array:
        return a.reshape(a.shape[0], -1, group, *a.shape[2:]).sum(2)

    p = ref.weights
    dp = g @ many[1].swapaxes(-1, -2)
    ds = p * (dp - (o * g).sum(-1, keepdims=True))
    size = np.abs(g) @ np.abs(many[1]).swapaxes(-1, -2)
    ds_size = p * (size + (size * p).sum(-1, keepdims=True))
    want = ds @ many[0] * scale, fold(ds.swapaxes(-1, -2) @ q) * scale, fold(p.swapaxes(-1, -2) @ g)
    sizes = (
        ds_size @ np.abs(many[0]) * abs(scale),
        fold(ds_size.swapaxes(-1, -2) @ np.abs(q)) * abs(scale),
        fold(p.swapaxes(-1, -2) @ np.abs(g)),
    )
    return want, sizes


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("layout", ["dense", "transposed"])
def test_attention_and_its_gradients(vendor: Vendor, dtype: str, name: str, layout: str) -> None:
    case = CASES[name]
    scale, wide = 0.3, ACCUMULATE.get(dtype, dtype)
    shapes = {
        "q": (case.n, case.h, case.s, case.d),
        "k": (case.n, case.kh, case.t, case.d),
        "v": (case.n, case.kh, case.t, case.dv),
        "g": (case.n, case.h, case.s, case.dv),
    }
    tensors, values = {}, {}
    for seed, (key, shape) in enumerate(shapes.items()):
        tensors[key], values[key] = place(vendor, numbers(shape, dtype, 90 + seed), dtype, layout)
    mask, added = mask_of(vendor, case, dtype)
    q, k, v = (values[key] for key in "qkv")
    ref = Reference.of(q, k, v, added, scale, case.causal)

    out = out_like(vendor, shapes["g"], dtype, layout)
    lse = out_like(vendor, shapes["g"][:3], wide)
    vendor.op.dlopAttention(
        out, lse, tensors["q"], tensors["k"], tensors["v"], mask, scale, case.causal
    )
    # A rounding error of a score is one of the exponent: relative to the weight, proportional to
    # the score.
    exponent = 1 + case.d * 9 * scale + 3
    length = max(case.t, case.d)
    magnitude = ref.weights @ np.abs(v).repeat(case.h // case.kh, axis=1)
    check(
        out, ref.out, OpClass.REDUCTION, "attention",
        reduction_length=length, magnitude=magnitude * exponent,
    )  # fmt: skip
    assert np.array_equal(np.isinf(lse.numpy()), np.isinf(ref.lse))
    finite = np.isfinite(ref.lse)
    assert np.allclose(
        lse.numpy()[finite].astype(np.float64), ref.lse[finite].astype(np.float64), 1e-4, 1e-4
    )

    o, stored_out = place(vendor, ref.out.astype(np.float64), dtype, layout)
    saved = vendor.tensor(ref.lse.astype(wide))
    grads = [out_like(vendor, shapes[key], dtype, layout) for key in "qkv"]
    vendor.op.dlopAttentionBackward(
        *grads, tensors["g"], tensors["q"], tensors["k"], tensors["v"], o, saved, mask, scale,
        case.causal,
    )  # fmt: skip
    want, sizes = gradients(ref, stored_out, values["g"], q, k, v, scale)
    longest = max(case.t, case.s * case.h // case.kh, case.d)
    for grad, expected, size, key in zip(grads, want, sizes, "qkv", strict=True):
        check(
            grad, expected, OpClass.REDUCTION, f"attention's gradient of {key}",
            reduction_length=longest, magnitude=size * exponent,
        )  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize(
    ("causal", "left", "right"), [(False, -1, -1), (True, -1, -1), (False, 3, 2), (True, 4, -1)]
)
@pytest.mark.parametrize(("s", "t"), [(70, 70), (5, 80), (80, 5)])
def test_flash_attention_counts_windows_from_the_end(
    vendor: Vendor, dtype: str, s: int, t: int, causal: bool, left: int, right: int
) -> None:
    tensors, values = [], []
    for seed, shape in enumerate([(2, s, 4, 8), (2, t, 2, 8), (2, t, 2, 8), (2, s, 4, 8)]):
        tensor, array = place(vendor, numbers(shape, dtype, 95 + seed), dtype)
        tensors.append(tensor)
        values.append(array.swapaxes(1, 2))
    shift, i, j = max(t - s, 0), np.arange(s)[:, None], np.arange(t)[None, :]
    seen = np.ones((s, t), bool)
    if causal or right >= 0:
        seen &= j <= i + shift + (0 if causal else right)
    if left >= 0:
        seen &= j >= i + shift - left
    ref = Reference.of(*values[:3], np.where(seen, Exact(0), -np.inf), 0.3, False)
    out, lse = out_like(vendor, (2, s, 4, 8), dtype), out_like(vendor, (2, 4, s), "float32")
    window = (None, 0.0, 0.3, causal, left, right)
    vendor.op.FlashAttention(out, lse, None, *tensors[:3], *window)
    assert np.allclose(
        exact(out.numpy(), dtype).astype(float), ref.out.swapaxes(1, 2).astype(float),
        atol=1e-5 if dtype == "float32" else 4e-3,
    )  # fmt: skip
    grads = [out_like(vendor, (2, n, h, 8), dtype) for n, h in ((s, 4), (t, 2), (t, 2))]
    vendor.op.FlashAttentionBackward(
        *grads, tensors[3], None, *tensors[:3], None, out, lse, 0.0, 0.3, causal, left, right
    )
    stored_out = exact(out.numpy(), dtype).swapaxes(1, 2)
    want, sizes = gradients(ref, stored_out, values[3], *values[:3], 0.3)
    for grad, expected, size in zip(grads, want, sizes, strict=True):
        error = np.abs(exact(grad.numpy(), dtype).swapaxes(1, 2) - expected)
        assert np.all(error <= (1e-5 if dtype == "float32" else 8e-3) * (1 + size))


def test_attention_names_what_does_not_go_together(vendor: Vendor) -> None:
    q, k = (out_like(vendor, shape, "float32") for shape in [(1, 3, 4, 8), (1, 2, 4, 8)])
    with pytest.raises(OperatorError, match=r"q has 3 heads; .* a multiple of the 2 heads of k"):
        vendor.op.dlopAttention(q, None, q, k, k, None, 1.0, False)
    mask = out_like(vendor, (4, 3), "float32")
    with pytest.raises(OperatorError, match=r"mask has 3 elements in dim 1 .* broadcast to 4"):
        vendor.op.dlopAttention(q, None, q, q, q, mask, 1.0, False)
    with pytest.raises(OperatorError, match="the output must have 1 samples, 3 heads and 4 rows"):
        vendor.op.dlopAttention(k, None, q, q, q, None, 1.0, False)


def test_attention_passes_nan_on(vendor: Vendor) -> None:
    values = numbers((1, 1, 3, 4), "float32", 99).astype(np.float32)
    spoilt = values.copy()
    spoilt[0, 0, 1] = np.nan
    out = out_like(vendor, (1, 1, 3, 4), "float32")
    tensor = vendor.tensor(values)
    vendor.op.dlopAttention(out, None, vendor.tensor(spoilt), tensor, tensor, None, 1.0, False)
    assert np.array_equal(np.isnan(out.numpy()).any(-1)[0, 0], [False, True, False])


SHAPES = {"q": (2, 70, 4, 8), "k": (2, 140, 2, 8), "v": (2, 140, 2, 8), "grad": (2, 70, 4, 8)}
WEIGHTS = 2 * 4 * 70 * 140


@pytest.fixture
def tensors(vendor: Vendor) -> dict[str, Tensor]:
    return {
        name: vendor.tensor(numbers(shape, "float32", 40 + seed).astype(np.float32))
        for seed, (name, shape) in enumerate(SHAPES.items())
    }


def test_dropout_is_the_same_in_all_operators_and_takes_a_word_for_each_weight(
    vendor: Vendor, tensors: dict[str, Tensor]
) -> None:
    q, k, v, grad = tensors.values()
    outs, logs, gradients = [], [], []
    for name in OPERATORS:
        out, lse = out_like(vendor, q.shape, "float32"), out_like(vendor, (2, 4, 70), "float32")
        grads = [out_like(vendor, x.shape, "float32") for x in (q, k, v)]
        gens = Generator(seed=5, offset=7), Generator(seed=5, offset=7)
        if name == "MultiHeadAttention":
            vendor.op.MultiHeadAttention(q, k, v, 0.5, True, False, 0.3, out, lse, gens[0], None)
            vendor.op.MultiHeadAttentionBackward(
                grad, q, k, v, out, lse, 0.5, True, gens[1], 0.3, *grads
            )
        elif name == "FlashAttention":
            window = (0.5, 0.3, True, -1, -1)
            vendor.op.FlashAttention(out, lse, gens[0], q, k, v, None, *window)
            vendor.op.FlashAttentionBackward(
                *grads, grad, gens[1], q, k, v, None, out, lse, *window
            )
        else:
            options = (0.5, 0.3, True, -1, -1, 4, "BSND")
            kept = vendor.op.CustomizedFlashAttention(out, gens[0], q, k, v, None, None, *options)
            vendor.op.CustomizedFlashAttentionBackward(
                *grads, grad, q, k, v, None, out, None, *kept, *options
            )
        if name != "CustomizedFlashAttention":
            assert gens[1].offset == 7 + WEIGHTS // 4
            logs.append(lse.numpy())
        assert gens[0].offset == 7 + WEIGHTS // 4
        outs.append(out.numpy())
        gradients.append([x.numpy() for x in grads])
    assert np.array_equal(logs[0], logs[1])
    for out, grads in zip(outs[1:], gradients[1:], strict=True):
        assert np.array_equal(out, outs[0])
        for got, want in zip(grads, gradients[0], strict=True):
            assert np.array_equal(got, want)


def test_dropout_keeps_its_share_and_the_mean(vendor: Vendor, tensors: dict[str, Tensor]) -> None:
    q, k, v, _ = tensors.values()
    kept = out_like(vendor, (2, 4, 70, 140), "bool")
    out, lse = out_like(vendor, q.shape, "float32"), out_like(vendor, (2, 4, 70), "float32")
    ones = vendor.tensor(np.ones(v.shape, np.float32))
    vendor.op.MultiHeadAttention(
        q, k, ones, 0.25, False, True, 0.0, out, lse, Generator(seed=1), kept
    )
    share = kept.numpy().mean()
    # Five standard deviations of a mean of that many draws.
    assert abs(share - 0.75) < 5 * np.sqrt(0.75 * 0.25 / WEIGHTS)
    # Weights are equal: a result is the fraction of kept weights, scaled.
    want = kept.numpy().mean(-1).swapaxes(1, 2)[..., None] / 0.75
    assert np.allclose(out.numpy(), want, 1e-5)


def test_nothing_is_kept_without_dropout(vendor: Vendor, tensors: dict[str, Tensor]) -> None:
    q, k, v, _ = tensors.values()
    options = (None, None, 0.0, 0.3, False, -1, -1, 4, "BSND")
    out, generator = out_like(vendor, q.shape, "float32"), Generator(seed=1, offset=3)
    mask, *others = vendor.op.CustomizedFlashAttention(out, generator, q, k, v, *options)
    assert mask is None and all(x is not None for x in others)
    assert generator.offset == 3


def test_layouts_are_views_of_one_another(vendor: Vendor, tensors: dict[str, Tensor]) -> None:
    arrays = [tensors[x].numpy() for x in "qkv"]
    results = []
    for layout in ("BSND", "BNSD", "BSH", "SBH"):
        given = [convert_layout(x, layout) for x in arrays]
        out = out_like(vendor, given[0].shape, "float32")
        vendor.op.CustomizedFlashAttention(
            out, None, *map(vendor.tensor, given), None, None, 0.0, 0.3, True, -1, -1, 4, layout
        )
        results.append(out.numpy())
    for layout, got in zip(("BSND", "BNSD", "BSH", "SBH"), results, strict=True):
        assert np.array_equal(got, convert_layout(results[0], layout)), layout


def convert_layout(x: Array, layout: str) -> Array:
    """Convert [N, S, H, D] to another layout."""
    if layout == "BNSD":
        x = x.swapaxes(1, 2)
    elif layout != "BSND":
        x = x.reshape(*x.shape[:2], -1)
        x = x.swapaxes(0, 1) if layout == "SBH" else x
    return np.ascontiguousarray(x)


def test_bad_arguments_of_dropout_and_layouts_are_reported(vendor: Vendor) -> None:
    x = out_like(vendor, (1, 3, 2, 4), "float32")
    out, lse = out_like(vendor, (1, 3, 2, 4), "float32"), out_like(vendor, (1, 2, 3), "float32")
    generator = Generator(seed=1, offset=2)

    def flash(p: float, gen: Generator | None = generator, slopes: Any = None) -> None:
        vendor.op.FlashAttention(out, lse, gen, x, x, x, slopes, p, 0.3, False, -1, -1)

    for p in (-0.5, 1.5, float("nan")):
        with pytest.raises(OperatorError, match=r"dropout probability .* is not in \[0, 1\]"):
            flash(p)
    with pytest.raises(OperatorError, match="dropout needs a generator"):
        flash(0.5, None)
    with pytest.raises(OperatorError, match=r"alibi_slopes has the shape \[3\]; it needs \[2\]"):
        flash(0.0, slopes=out_like(vendor, (3,), "float32"))
    assert generator.offset == 2

    def customized(given: Tensor, layout: str, heads: int = 2, mask: Tensor | None = None) -> None:
        to = out_like(vendor, given.shape, "float32")
        options = (0.0, 0.3, False, -1, -1, heads, layout)
        vendor.op.CustomizedFlashAttention(to, None, given, given, given, None, mask, *options)

    with pytest.raises(OperatorError, match="q has 4 dimensions; it needs 3"):
        customized(x, "BSH")
    joined = out_like(vendor, (1, 3, 8), "float32")
    for heads in (0, -1, 3):
        with pytest.raises(OperatorError, match=f"rows of 8 .* a multiple of {heads} heads"):
            customized(joined, "SBH", heads)
    with pytest.raises(OperatorError, match="mask has 4 elements in dim 1"):
        customized(x, "BSND", mask=out_like(vendor, (3, 4), "bool"))
    with pytest.raises(OperatorError, match="return_debug_mask needs a debug_attn_mask"):
        vendor.op.MultiHeadAttention(x, x, x, 0.0, False, True, 0.3, out, lse, None, None)
    grads = [out_like(vendor, x.shape, "float32") for _ in "qkv"]
    options = (0.5, 0.3, False, -1, -1, 2, "BSND")
    with pytest.raises(OperatorError, match="the dropout mask of the forward pass is needed"):
        vendor.op.CustomizedFlashAttentionBackward(
            *grads, x, x, x, x, None, x, None, None, lse, lse, lse, *options
        )
