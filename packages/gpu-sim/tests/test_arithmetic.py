"""Integers, bits and floats compared with numpy, one opcode per case."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from conftest import apply

RANDOM = np.random.default_rng(7)
NP = {
    **{f"u{n}": np.dtype(f"uint{n}") for n in (8, 16, 32, 64)},
    **{f"s{n}": np.dtype(f"int{n}") for n in (8, 16, 32, 64)},
    **{f"f{n}": np.dtype(f"float{n}") for n in (16, 32, 64)},
}


def samples(name: str, count: int = 256) -> np.ndarray[Any, Any]:
    """Return values of a type, including extreme and special ones."""
    dtype = NP[name]
    if dtype.kind == "f":
        values = (RANDOM.standard_normal(count) * 10 ** RANDOM.uniform(-4, 4, count)).astype(dtype)
        special = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            np.inf,
            -np.inf,
            np.nan,
            0.5,
            1.5,
            2.5,
            np.finfo(dtype).tiny,
        ]
        values[: len(special)] = special
        return values
    limits = np.iinfo(dtype)
    values = RANDOM.integers(limits.min, limits.max, count, dtype, endpoint=True)
    values[:6] = [limits.min, limits.max, 0, 1, limits.max, 2]
    small = RANDOM.integers(0, 40, count)
    return np.where(RANDOM.random(count) < 0.3, small.astype(dtype), values)


def exact(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return values.astype(object)


def wrapped(values: Any, name: str) -> np.ndarray[Any, Any]:
    """Convert exact integers to a narrower type."""
    bits = NP[name].itemsize * 8
    mask = (1 << bits) - 1
    plain = np.array([int(v) & mask for v in values], f"uint{bits}")
    return plain.view(NP[name])


def divided(a: int, b: int) -> int:
    if b == 0:
        return -1
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


INTEGERS = ["u16", "s16", "u32", "s32", "u64", "s64"]
BINARY = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul.lo": lambda a, b: a * b,
    "div": divided,
    "rem": lambda a, b: a if b == 0 else a - divided(a, b) * b,
    "min": min,
    "max": max,
}


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("opcode", BINARY)
def test_integer_binary(opcode: str, name: str) -> None:
    a, b = samples(name), samples(name)[::-1]
    got = apply(f"{opcode}.{name} %y, %x0, %x1;", [a, b], NP[name])
    want = wrapped([BINARY[opcode](int(x), int(y)) for x, y in zip(a, b, strict=True)], name)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("name", INTEGERS)
def test_mul_hi_and_mad(name: str) -> None:
    a, b, c = samples(name), samples(name)[::-1], samples(name)
    bits = NP[name].itemsize * 8
    rows = [(int(x), int(y), int(z)) for x, y, z in zip(a, b, c, strict=True)]
    got = apply(f"mul.hi.{name} %y, %x0, %x1;", [a, b], NP[name])
    np.testing.assert_array_equal(got, wrapped([x * y >> bits for x, y, _ in rows], name))
    got = apply(f"mad.lo.{name} %y, %x0, %x1, %x2;", [a, b, c], NP[name])
    np.testing.assert_array_equal(got, wrapped([x * y + z for x, y, z in rows], name))


@pytest.mark.parametrize(
    ("name", "wide"), [("u16", "u32"), ("s16", "s32"), ("u32", "u64"), ("s32", "s64")]
)
def test_wide_products(name: str, wide: str) -> None:
    a, b, c = samples(name), samples(name)[::-1], samples(wide)
    got = apply(f"mul.wide.{name} %y, %x0, %x1;", [a, b], NP[wide])
    np.testing.assert_array_equal(got, wrapped(exact(a) * exact(b), wide))
    got = apply(f"mad.wide.{name} %y, %x0, %x1, %x2;", [a, b, c], NP[wide])
    np.testing.assert_array_equal(got, wrapped(exact(a) * exact(b) + exact(c), wide))


def test_saturating_sums() -> None:
    a, b = samples("s32"), samples("s32")[::-1]
    low, high = -(2**31), 2**31 - 1
    for opcode, sign in (("add", 1), ("sub", -1)):
        got = apply(f"{opcode}.sat.s32 %y, %x0, %x1;", [a, b], np.int32)
        want = [min(max(int(x) + sign * int(y), low), high) for x, y in zip(a, b, strict=True)]
        np.testing.assert_array_equal(got, np.array(want, np.int32))


def test_carries_make_sums_of_128_bits() -> None:
    a, b, c, d = (samples("u64") for _ in range(4))
    d = d[::-1]
    sums = [
        (int(w) + (int(x) << 64) + int(y) + (int(z) << 64)) >> 64 & (2**64 - 1)
        for w, x, y, z in zip(a, b, c, d, strict=True)
    ]
    code = ".reg .b64 %t; add.cc.u64 %t, %x0, %x2; addc.u64 %y, %x1, %x3;"
    np.testing.assert_array_equal(apply(code, [a, b, c, d], np.uint64), np.array(sums, np.uint64))
    differences = [
        (int(w) + (int(x) << 64) - int(y) - (int(z) << 64)) >> 64 & (2**64 - 1)
        for w, x, y, z in zip(a, b, c, d, strict=True)
    ]
    code = ".reg .b64 %t; sub.cc.u64 %t, %x0, %x2; subc.u64 %y, %x1, %x3;"
    got = apply(code, [a, b, c, d], np.uint64)
    np.testing.assert_array_equal(got, np.array(differences, np.uint64))
    code = ".reg .b32 %t; mad.lo.cc.u32 %t, %x0, %x1, %x2; madc.hi.u32 %y, %x0, %x1, 0;"
    x, y, z = (samples("u32") for _ in range(3))
    want = (exact(x) * exact(y[::-1]) + exact(z)) >> 32
    got = apply(code, [x, y[::-1], z], np.uint32)
    np.testing.assert_array_equal(got, wrapped(want, "u32"))


@pytest.mark.parametrize("opcode", ["and", "or", "xor"])
@pytest.mark.parametrize("bits", [16, 32, 64])
def test_logic(opcode: str, bits: int) -> None:
    name = f"u{bits}"
    a, b = samples(name), samples(name)[::-1]
    want = {"and": a & b, "or": a | b, "xor": a ^ b}[opcode]
    np.testing.assert_array_equal(apply(f"{opcode}.b{bits} %y, %x0, %x1;", [a, b], NP[name]), want)
    np.testing.assert_array_equal(apply(f"not.b{bits} %y, %x0;", [a], NP[name]), ~a)


@pytest.mark.parametrize("name", INTEGERS)
def test_shifts(name: str) -> None:
    a = samples(name)
    by = RANDOM.integers(0, 80, len(a)).astype(np.uint32)
    bits = NP[name].itemsize * 8
    left = [int(x) << int(n) if n < bits else 0 for x, n in zip(a, by, strict=True)]
    got = apply(f"shl.b{bits} %y, %x0, %x1;", [a, by], NP[name])
    np.testing.assert_array_equal(got, wrapped(left, name))
    right = [int(x) >> int(n) for x, n in zip(a, by, strict=True)]
    got = apply(f"shr.{name} %y, %x0, %x1;", [a, by], NP[name])
    np.testing.assert_array_equal(got, wrapped(right, name))


@pytest.mark.parametrize("bits", [32, 64])
def test_bit_counts(bits: int) -> None:
    a = samples(f"u{bits}")
    for opcode, count in {
        f"popc.b{bits}": lambda x: x.bit_count(),
        f"clz.b{bits}": lambda x: bits - x.bit_length(),
        f"bfind.u{bits}": lambda x: x.bit_length() - 1,
        f"bfind.shiftamt.u{bits}": lambda x: bits - x.bit_length() if x else -1,
    }.items():
        got = apply(f"{opcode} %y, %x0;", [a], np.uint32)
        np.testing.assert_array_equal(got, wrapped([count(int(x)) for x in a], "u32"), opcode)
    reverse = [int(f"{int(x):0{bits}b}"[::-1], 2) for x in a]
    got = apply(f"brev.b{bits} %y, %x0;", [a], NP[f"u{bits}"])
    np.testing.assert_array_equal(got, wrapped(reverse, f"u{bits}"))


@pytest.mark.parametrize("name", ["u32", "s32", "u64", "s64"])
def test_bit_fields(name: str) -> None:
    a, b = samples(name), samples(name)[::-1]
    bits = NP[name].itemsize * 8
    start = RANDOM.integers(0, bits + 8, len(a)).astype(np.uint32)
    length = RANDOM.integers(0, bits + 8, len(a)).astype(np.uint32)
    extracted, inserted = [], []
    for x, y, s, n in zip(a, b, map(int, start), map(int, length), strict=True):
        plain, other = int(x) & (2**bits - 1), int(y) & (2**bits - 1)
        last = min(s + n - 1, bits - 1)
        sign = name[0] == "s" and n > 0 and plain >> last & 1
        value = sum(
            (plain >> s + i & 1 if s + i < bits and i < n else sign) << i for i in range(bits)
        )
        extracted.append(value)
        field = (2**n - 1 << s) & (2**bits - 1)
        inserted.append(other & ~field | plain << s & field)
    got = apply(f"bfe.{name} %y, %x0, %x1, %x2;", [a, start, length], NP[name])
    np.testing.assert_array_equal(got, wrapped(extracted, name))
    got = apply(f"bfi.b{bits} %y, %x0, %x1, %x2, %x3;", [a, b, start, length], NP[name])
    np.testing.assert_array_equal(got, wrapped(inserted, name))


def test_permutations_and_funnels() -> None:
    a, b = samples("u32"), samples("u32")[::-1]
    c = RANDOM.integers(0, 2**16, len(a)).astype(np.uint32)
    want = []
    for x, y, s in zip(a, b, c, strict=True):
        both = int(x) | int(y) << 32
        chosen = 0
        for i in range(4):
            choice = int(s) >> 4 * i & 15
            byte = both >> 8 * (choice & 7) & 255
            chosen |= (byte if choice < 8 else 255 * (byte >> 7)) << 8 * i
        want.append(chosen)
    got = apply("prmt.b32 %y, %x0, %x1, %x2;", [a, b, c], np.uint32)
    np.testing.assert_array_equal(got, np.array(want, np.uint32))
    n = c % 40
    both = exact(a) + exact(b) * 2**32
    left = [int(v) << min(int(k), 32) >> 32 for v, k in zip(both, n, strict=True)]
    got = apply("shf.l.clamp.b32 %y, %x0, %x1, %x2;", [a, b, n], np.uint32)
    np.testing.assert_array_equal(got, wrapped(left, "u32"))
    right = [int(v) >> (int(k) & 31) for v, k in zip(both, n, strict=True)]
    got = apply("shf.r.wrap.b32 %y, %x0, %x1, %x2;", [a, b, n], np.uint32)
    np.testing.assert_array_equal(got, wrapped(right, "u32"))
    got = apply("lop3.b32 %y, %x0, %x1, %x2, 0x96;", [a, b, c], np.uint32)
    np.testing.assert_array_equal(got, a ^ b ^ c)


def test_dot_products() -> None:
    a, b, c = samples("u32"), samples("u32"), samples("s32")
    left = a.view(np.int8).reshape(-1, 4).astype(object)
    right = b.view(np.uint8).reshape(-1, 4).astype(object)
    got = apply("dp4a.s32.u32 %y, %x0, %x1, %x2;", [a, b, c], np.int32)
    np.testing.assert_array_equal(got, wrapped((left * right).sum(1) + exact(c), "s32"))


FLOAT = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div.rn": np.divide}


def same(got: np.ndarray[Any, Any], want: np.ndarray[Any, Any]) -> None:
    """Check that values are bitwise equal, except for the payload of NaN."""
    nan = np.isnan(want)
    np.testing.assert_array_equal(np.isnan(got), nan)
    bits = f"u{want.dtype.itemsize}"
    np.testing.assert_array_equal(got[~nan].view(bits), want[~nan].view(bits))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ["f32", "f64"])
@pytest.mark.parametrize("opcode", FLOAT)
def test_float_binary(opcode: str, name: str) -> None:
    a, b = samples(name), samples(name)[::-1]
    same(apply(f"{opcode}.{name} %y, %x0, %x1;", [a, b], NP[name]), FLOAT[opcode](a, b))


def rounded(value: Any, mode: str, dtype: Any) -> Any:
    """Round an exact fraction to a float type."""
    from fractions import Fraction

    near = dtype(float(value))
    exact_near = Fraction(float(near))
    if exact_near > value:
        above, below = near, np.nextafter(near, dtype(-np.inf))
    elif exact_near < value:
        above, below = np.nextafter(near, dtype(np.inf)), near
    else:
        return near
    if mode == "rp":
        return above
    if mode == "rm":
        return below
    return below if value > 0 else above


@pytest.mark.parametrize("mode", ["rz", "rm", "rp"])
@pytest.mark.parametrize(("name", "dtype"), [("f32", np.float32), ("f64", np.float64)])
def test_directed_roundings(name: str, dtype: Any, mode: str) -> None:
    from fractions import Fraction

    a, b, c = (RANDOM.standard_normal(128).astype(dtype) for _ in range(3))
    exactly = [[Fraction(float(v)) for v in x] for x in (a, b, c)]
    cases = {
        f"add.{mode}.{name} %y, %x0, %x1;": lambda x, y, z: x + y,
        f"mul.{mode}.{name} %y, %x0, %x1;": lambda x, y, z: x * y,
        f"div.{mode}.{name} %y, %x0, %x1;": lambda x, y, z: x / y,
        f"fma.{mode}.{name} %y, %x0, %x1, %x2;": lambda x, y, z: x * y + z,
    }
    for code, operation in cases.items():
        want = np.array(
            [rounded(operation(*v), mode, dtype) for v in zip(*exactly, strict=True)], dtype
        )
        same(apply(code, [a, b, c], dtype), want)


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_fma_is_one_rounding(name: str) -> None:
    from fractions import Fraction

    a, b = (RANDOM.standard_normal(64).astype(NP[name]) for _ in range(2))
    c = -(a * b)  # the result is the rounding error of the product
    want = [
        float(Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)))
        for x, y, z in zip(a, b, c, strict=True)
    ]
    got = apply(f"fma.rn.{name} %y, %x0, %x1, %x2;", [a, b, c], NP[name])
    same(got, np.array(want, NP[name]))
    assert np.any(got != 0)


def test_minimum_and_maximum_of_nan_and_zeros() -> None:
    nan = np.nan
    a = np.array([nan, 1, nan, 0.0, -0.0, 2], np.float32)
    b = np.array([1, nan, nan, -0.0, 0.0, 3], np.float32)
    same(
        apply("min.f32 %y, %x0, %x1;", [a, b], np.float32),
        np.array([1, 1, nan, -0.0, -0.0, 2], np.float32),
    )
    same(
        apply("max.f32 %y, %x0, %x1;", [a, b], np.float32),
        np.array([1, 1, nan, 0.0, 0.0, 3], np.float32),
    )
    same(
        apply("max.NaN.f32 %y, %x0, %x1;", [a, b], np.float32),
        np.array([nan, nan, nan, 0.0, 0.0, 3], np.float32),
    )


def test_flush_and_saturation() -> None:
    tiny = np.array([1e-40, -1e-40, 1e-38, 2.0, -3.0, np.nan], np.float32)
    one = np.ones(6, np.float32)
    same(apply("mul.f32 %y, %x0, %x1;", [tiny, one], np.float32), tiny)
    flushed = np.where(np.abs(tiny) < 1.17549435e-38, np.copysign(np.float32(0), tiny), tiny)
    same(apply("mul.ftz.f32 %y, %x0, %x1;", [tiny, one], np.float32), flushed)
    saturated = np.array([1e-40, 0, 1e-38, 1, 0, 0], np.float32)
    same(apply("mul.sat.f32 %y, %x0, %x1;", [tiny, one], np.float32), saturated)


def test_functions() -> None:
    a = np.abs(RANDOM.standard_normal(128)).astype(np.float32) + np.float32(0.1)
    wide = a.astype(np.float64)
    for code, want in {
        "sqrt.rn.f32": np.sqrt(wide),
        "rcp.rn.f32": 1 / wide,
        "rsqrt.approx.f32": 1 / np.sqrt(wide),
        "ex2.approx.f32": np.exp2(wide),
        "lg2.approx.f32": np.log2(wide),
        "sin.approx.f32": np.sin(wide),
        "cos.approx.f32": np.cos(wide),
        "tanh.approx.f32": np.tanh(wide),
    }.items():
        same(apply(f"{code} %y, %x0;", [a], np.float32), want.astype(np.float32))
    same(apply("sqrt.rn.f64 %y, %x0;", [wide], np.float64), np.sqrt(wide))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("opcode", ["add", "sub", "mul"])
def test_halves(opcode: str) -> None:
    a, b = samples("f16"), samples("f16")[::-1]
    want = FLOAT[opcode](a, b)
    same(apply(f"{opcode}.f16 %y, %x0, %x1;", [a, b], np.float16), want)
    pairs = apply(
        f"{opcode}.f16x2 %y, %x0, %x1;",
        [a.view(np.uint32), np.ascontiguousarray(b).view(np.uint32)],
        np.uint32,
    )
    same(pairs.view(np.float16), want)


def brain(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Round doubles to bf16; return them as float32."""
    from fractions import Fraction

    made = []
    for value in values:
        mantissa, exponent = math.frexp(value)
        whole = Fraction(mantissa) * 256
        made.append(math.ldexp(round(whole), exponent - 8))
    return np.array(made, np.float32)


def test_brain_floats() -> None:
    a, b, c = (brain(RANDOM.standard_normal(256)) for _ in range(3))

    def bits(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return (x.view(np.uint32) >> 16).astype(np.uint16)

    wide = [x.astype(np.float64) for x in (a, b, c)]
    got = apply("fma.rn.bf16 %y, %x0, %x1, %x2;", [bits(a), bits(b), bits(c)], np.uint16)
    np.testing.assert_array_equal(got, bits(brain(wide[0] * wide[1] + wide[2])))
    single = RANDOM.standard_normal(256).astype(np.float32)
    got = apply("cvt.rn.bf16.f32 %y, %x0;", [single], np.uint16)
    np.testing.assert_array_equal(got, bits(brain(single.astype(np.float64))))


def test_half_fma_rounds_once() -> None:
    from fractions import Fraction

    a, b, c = (samples("f16", 512)[16:] for _ in range(3))
    finite = [np.clip(np.nan_to_num(x), -200, 200).astype(np.float16) for x in (a, b, c)]
    # Sums whose exact value is close to the midpoint of two float16 values.
    finite[0][0], finite[1][0], finite[2][0] = 1 + 2**-10, 1 + 2**-10, 2**-24
    want = []
    for x, y, z in zip(*finite, strict=True):
        value = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        near = np.float16(float(value))
        candidates = [
            near,
            np.nextafter(near, np.float16(np.inf)),
            np.nextafter(near, np.float16(-np.inf)),
        ]
        best = min(
            (q for q in candidates if np.isfinite(q)),
            key=lambda q: (abs(Fraction(float(q)) - value), int(q.view(np.uint16)) & 1),
        )
        want.append(best)
    got = apply("fma.rn.f16 %y, %x0, %x1, %x2;", finite, np.float16)
    np.testing.assert_array_equal(got, np.array(want, np.float16))
