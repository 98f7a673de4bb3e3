"""cvt, setp, selp, mov, and prmt of packs, compared with numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conftest import apply
from test_arithmetic import NP, same, samples, wrapped

WHOLE = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"]


@pytest.mark.parametrize("into", WHOLE)
@pytest.mark.parametrize("source", WHOLE)
def test_whole_numbers(source: str, into: str) -> None:
    a = samples(source)
    want = wrapped(a.astype(object), into)
    np.testing.assert_array_equal(apply(f"cvt.{into}.{source} %y, %x0;", [a], NP[into]), want)
    limits = np.iinfo(NP[into])
    kept = [min(max(int(x), limits.min), limits.max) for x in a]
    got = apply(f"cvt.sat.{into}.{source} %y, %x0;", [a], NP[into])
    np.testing.assert_array_equal(got, np.array(kept, NP[into]))


@pytest.mark.parametrize("into", WHOLE)
@pytest.mark.parametrize("source", ["f16", "f32", "f64"])
@pytest.mark.parametrize("mode", ["rni", "rzi", "rmi", "rpi"])
def test_floats_to_whole_numbers(source: str, into: str, mode: str) -> None:
    a = samples(source)
    limits = np.iinfo(NP[into])
    round_one = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}[mode]
    wide = limits.bits == 64 or source == "f64"
    want = []
    for x in a.astype(np.float64):
        if np.isnan(x):
            want.append(limits.min if limits.min < 0 else 2 ** (limits.bits - 1))
            if not wide:
                want[-1] = 0
        elif np.isinf(x):
            want.append(limits.max if x > 0 else limits.min)
        else:
            want.append(min(max(int(round_one(x)), limits.min), limits.max))
    got = apply(f"cvt.{mode}.{into}.{source} %y, %x0;", [a], NP[into])
    np.testing.assert_array_equal(got, np.array(want, NP[into]))


@pytest.mark.parametrize("source", WHOLE)
@pytest.mark.parametrize("into", ["f32", "f64"])
def test_whole_numbers_to_floats(source: str, into: str) -> None:
    a = samples(source)
    same(apply(f"cvt.rn.{into}.{source} %y, %x0;", [a], NP[into]), a.astype(NP[into]))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_floats_to_floats() -> None:
    double = samples("f64")
    single = samples("f32")
    half = samples("f16")
    same(apply("cvt.rn.f32.f64 %y, %x0;", [double], np.float32), double.astype(np.float32))
    same(apply("cvt.f64.f32 %y, %x0;", [single], np.float64), single.astype(np.float64))
    same(apply("cvt.rn.f16.f32 %y, %x0;", [single], np.float16), single.astype(np.float16))
    same(apply("cvt.f32.f16 %y, %x0;", [half], np.float32), half.astype(np.float32))
    same(apply("cvt.rzi.f32.f32 %y, %x0;", [single], np.float32), np.trunc(single))
    pairs = apply("cvt.rn.f16x2.f32 %y, %x0, %x1;", [single, single[::-1]], np.uint32)
    parts = pairs.view(np.float16).reshape(-1, 2)
    same(parts[:, 1].copy(), single.astype(np.float16))
    same(parts[:, 0].copy(), single[::-1].astype(np.float16))
    toward = apply("cvt.rz.f32.f64 %y, %x0;", [double], np.float32).astype(np.float64)
    known = np.isfinite(double)
    assert np.all(np.abs(toward[known]) <= np.abs(double[known]))
    step = np.nextafter(
        toward[known].astype(np.float32),
        np.float32(np.inf) * np.sign(double[known]).astype(np.float32),
    )
    inexact = toward[known] != double[known]
    assert np.all(np.abs(step.astype(np.float64))[inexact] > np.abs(double[known][inexact]))


COMPARISONS: dict[str, Any] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


@pytest.mark.parametrize("name", ["u16", "s16", "u32", "s32", "u64", "s64", "f16", "f32", "f64"])
@pytest.mark.parametrize("which", COMPARISONS)
def test_comparisons(which: str, name: str) -> None:
    a, b = samples(name), samples(name)[::-1].copy()
    b[:32] = a[:32]
    code = f"setp.{which}.{name} %p1, %x0, %x1; selp.u32 %y, 1, 0, %p1;"
    unordered = np.isnan(a) | np.isnan(b) if name[0] == "f" else np.zeros(len(a), bool)
    want = COMPARISONS[which](a, b) & ~unordered
    np.testing.assert_array_equal(apply(code, [a, b], np.uint32), want)
    if name in ("f32", "f64"):
        code = f"setp.{which}u.{name} %p1, %x0, %x1; selp.u32 %y, 1, 0, %p1;"
        np.testing.assert_array_equal(apply(code, [a, b], np.uint32), want | unordered)
        code = f"setp.nan.{name} %p1|%p2, %x0, %x1; selp.u32 %y, 1, 2, %p1; @%p2 add.u32 %y, %y, 4;"
        np.testing.assert_array_equal(apply(code, [a, b], np.uint32), np.where(unordered, 1, 6))


@pytest.mark.parametrize(
    ("word", "combine"), [("and", np.logical_and), ("or", np.logical_or), ("xor", np.logical_xor)]
)
def test_combined_comparisons(word: str, combine: Any) -> None:
    a, b = samples("s32"), samples("s32")[::-1]
    code = (
        "setp.lt.s32 %p3, %x0, 0;"
        f"setp.gt.{word}.s32 %p1|%p2, %x0, %x1, !%p3;"
        "selp.u32 %y, 1, 0, %p1; @%p2 add.u32 %y, %y, 2;"
    )
    first, second = a > b, ~(a < 0)
    want = combine(first, second) * 1 + combine(~first, second) * 2
    np.testing.assert_array_equal(apply(code, [a, b], np.uint32), want)


def test_packs() -> None:
    a, b = samples("u32"), samples("u32")[::-1]
    got = apply("mov.b64 %y, {%x0, %x1};", [a, b], np.uint64)
    np.testing.assert_array_equal(got, a.astype(np.uint64) | b.astype(np.uint64) << np.uint64(32))
    code = "mov.b32 {%h1, %h2}, %x0; mov.b32 %y, {%h2, %h1};"
    np.testing.assert_array_equal(apply(code, [a], np.uint32), a >> 16 | a << 16)


def test_slct_and_set() -> None:
    a, b, c = samples("u32"), samples("u32")[::-1], samples("s32")
    got = apply("slct.u32.s32 %y, %x0, %x1, %x2;", [a, b, c], np.uint32)
    np.testing.assert_array_equal(got, np.where(c >= 0, a, b))
    got = apply("set.lt.u32.s32 %y, %x0, 5;", [c], np.uint32)
    np.testing.assert_array_equal(got, np.where(c < 5, 0xFFFFFFFF, 0))
    got = apply("set.lt.f32.s32 %y, %x0, 5;", [c], np.float32)
    np.testing.assert_array_equal(got, np.where(c < 5, 1.0, 0.0))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_floats_to_tensor_floats() -> None:
    """Rounded to 10 bits of fraction; ties away from zero."""
    a = samples("f32")
    got = apply("cvt.rna.tf32.f32 %y, %x0;", [a], np.uint32).view(np.float32)
    known = np.isfinite(a) & (np.abs(a) < np.float32(3.4e38))
    bits = a[known].view(np.uint32).astype(np.uint64)
    want = ((bits + 0x1000) & 0xFFFFE000).astype(np.uint32).view(np.float32)
    np.testing.assert_array_equal(got[known].view(np.uint32), want.view(np.uint32))
    np.testing.assert_array_equal(got[np.isinf(a)], a[np.isinf(a)])
    assert np.isnan(got[np.isnan(a)]).all()
