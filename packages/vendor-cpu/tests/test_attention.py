"""Attention and its gradients, against the formula written out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Tensor, Vendor
from diopi_proto.tolerance import OpClass
from support import ACCUMULATE, FLOATS, Array, Exact, check, exact, numbers, out_like, place


@dataclass(frozen=True)
class Case:
    """Sizes: samples, heads, heads of keys, queries, keys, width of keys and of values."""

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
    """The mask, and what is added to the scores. The first query sees no key of a bool mask."""
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
    """Attention in extended precision, and the sizes of what is added up."""

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
    """The three gradients from the output as stored, and the same of all terms' magnitudes."""
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
    # A rounding of a score is one of the exponent: relative to the weight, as large as the score.
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
    with pytest.raises(OperatorError, match="q has 3 heads, not a multiple of the 2 of k and v"):
        vendor.op.dlopAttention(q, None, q, k, k, None, 1.0, False)
    mask = out_like(vendor, (4, 3), "float32")
    with pytest.raises(OperatorError, match=r"mask has 3 elements in dim 3 .* broadcast to 4"):
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
