"""Tests of the selection of an implementation: candidates, choices, and rejected ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import support
from diopi_proto import Vendor, VendorError, load_vendor
from diopi_proto.choices import ChoiceKey, ChoiceStatistics
from dl_vendor_cpu.levels import levels_here, processor_flags


@pytest.fixture
def vendor() -> Iterator[Vendor]:
    with load_vendor(support.tested_library()) as loaded:
        yield loaded
        loaded.choices.install({})
        loaded.choices.record(0)
        loaded.choices.request(None)


def product(vendor: Vendor, size: int = 40) -> bytes:
    """Return the product of two fixed matrices, as bytes."""
    rng = np.random.default_rng(3)
    a, b = (vendor.tensor(rng.normal(size=(size, size)).astype(np.float32)) for _ in range(2))
    out = vendor.empty((size, size), "float32")
    vendor.op.Mm(out, a, b)
    return out.numpy().tobytes()


def recorded_key(vendor: Vendor) -> tuple[ChoiceKey, tuple[str, ...]]:
    """Return the key of the product, with its candidates."""
    vendor.choices.record()
    product(vendor)
    product(vendor)
    (record,) = vendor.choices.recorded()
    vendor.choices.record(0)
    assert record.calls == 2
    return record.key, record.choices


def used(vendor: Vendor, before: ChoiceStatistics) -> tuple[int, int]:
    now = vendor.choices.statistics()
    return now.hits - before.hits, now.misses - before.misses


def test_keys_tell_calls_apart_and_say_what_may_be_chosen(vendor: Vendor) -> None:
    assert "choices" in vendor.extensions
    key, choices = recorded_key(vendor)
    assert key.point == "gemm" and choices[-1] == "own"
    assert key == ChoiceKey.parse(str(key))
    vendor.choices.record()
    product(vendor, 41)
    (other,) = vendor.choices.recorded()
    assert other.key != key
    assert list(vendor.choices.recorded()) == [other]


def bfloat16_product(vendor: Vendor) -> bytes:
    """Return the product of two fixed matrices of bfloat16, as bytes."""
    rng = np.random.default_rng(3)
    a, b = (
        vendor.tensor(support.stored(rng.normal(size=(400, 1000)), "bfloat16"), dtype="bfloat16")
        for _ in range(2)
    )
    out = vendor.empty((400, 400), "bfloat16")
    vendor.op.Mm(out, a, b.as_strided((1000, 400), (1, 1000)))
    return out.numpy().tobytes()


def test_bfloat16_is_for_a_library_where_the_processor_has_it(vendor: Vendor) -> None:
    """Otherwise oneDNN computes it in float, slower than our own kernels."""
    vendor.choices.record()
    bfloat16_product(vendor)
    (record,) = vendor.choices.recorded()
    vendor.choices.record(0)
    libraries = [name for name in record.choices if name != "own"]
    if not libraries:
        pytest.skip("no library serves it here")
    flags = processor_flags(Path("/proc/cpuinfo").read_text())
    has_it = "avx512_bf16" in flags or "sve" in levels_here()
    assert record.choices[0] == (libraries[0] if has_it else "own")
    results = {}
    for name in ("own", libraries[0]):
        vendor.choices.install({record.key: name})
        results[name] = bfloat16_product(vendor)
    vendor.choices.install({})
    assert results["own"] != results[libraries[0]], (
        "both sum in the same order: the test cannot distinguish them"
    )
    assert bfloat16_product(vendor) == results[record.choices[0]]


def linear(vendor: Vendor, dtype: str, bias: bool) -> np.ndarray:
    """Rows of 1536 elements, a multiple of 2 KiB but not of 8 KiB."""
    rng = np.random.default_rng(3)
    x, weight, row = (
        vendor.tensor(rng.normal(size=shape).astype(dtype))
        for shape in ((40, 400), (400, 1536), (1536,))
    )
    out = vendor.empty((40, 1536), dtype)
    if bias:
        vendor.op.Addmm(out, row, x, weight, 1.0, 1.0)
    else:
        vendor.op.Mm(out, x, weight)
    return out.numpy()


def has_fitting_openblas(vendor: Vendor) -> bool:
    """Return True if OpenBLAS's kernels use registers as wide as the vendor's."""
    identity = vendor.choices.identity()
    wide = any(core in identity for core in ("SkylakeX", "Cooperlake", "SapphireRapids"))
    return wide or "x86-64-v4" not in identity


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_choice_gives_the_product_and_adds_the_row(
    vendor: Vendor, dtype: str, bias: bool
) -> None:
    usual = linear(vendor, dtype, bias)
    vendor.choices.record()
    linear(vendor, dtype, bias)
    # Where the vendor's own kernels are the default, the bias row is written first, and the product
    # that adds to it is a separate call.
    record = next(iter(vendor.choices.recorded()))
    vendor.choices.record(0)
    for name in record.choices:
        vendor.choices.install({record.key: name})
        np.testing.assert_allclose(linear(vendor, dtype, bias), usual, atol=1e-4)
    if "openblas" in record.choices and has_fitting_openblas(vendor):
        assert record.choices[0] == "openblas", "oneDNN is slow with this row stride"
    vendor.choices.install({record.key: record.choices[0]})
    assert linear(vendor, dtype, bias).tobytes() == usual.tobytes()


def pointwise_convolution(vendor: Vendor) -> None:
    x, weight = (
        vendor.tensor(np.ones(shape, np.float32)) for shape in ((1, 8, 9, 9), (4, 8, 1, 1))
    )
    out = vendor.empty((1, 4, 9, 9), "float32")
    vendor.op.Convolution2d(out, x, weight, None, [1, 1], [0, 0], [1, 1], 1)
    assert (out.numpy() == 8).all()


def test_a_pointwise_convolution_is_not_copied(vendor: Vendor) -> None:
    vendor.choices.record()
    pointwise_convolution(vendor)
    (record,) = vendor.choices.recorded()
    vendor.choices.record(0)
    if record.choices != ("own",):
        assert record.choices[0] == "onednn-given"
    for name in record.choices:
        vendor.choices.install({record.key: name})
        pointwise_convolution(vendor)


@pytest.mark.parametrize("last", [False, True])
def test_what_is_chosen_is_used_and_right(vendor: Vendor, last: bool) -> None:
    usual = np.frombuffer(product(vendor), np.float32)
    key, choices = recorded_key(vendor)
    before = vendor.choices.statistics()
    vendor.choices.install({key: choices[-1 if last else 0]})
    np.testing.assert_allclose(np.frombuffer(product(vendor), np.float32), usual, atol=1e-4)
    product(vendor, 41)
    assert used(vendor, before) == (1, 1)
    assert vendor.choices.statistics().entries == 1


def test_without_a_table_all_is_as_before_bit_by_bit(vendor: Vendor) -> None:
    usual = product(vendor)
    key, choices = recorded_key(vendor)
    vendor.choices.install({key: choices[-1]})
    product(vendor)
    vendor.choices.install({})
    before = vendor.choices.statistics()
    assert product(vendor) == usual
    assert used(vendor, before) == (0, 0)


@pytest.mark.parametrize("wrong", ["nothing", "own/1", "onednn/2", "onednn-given", ""])
def test_what_is_no_choice_is_refused_and_the_table_stays(vendor: Vendor, wrong: str) -> None:
    key, _ = recorded_key(vendor)
    vendor.choices.install({key: "own"})
    with pytest.raises(VendorError, match=f"entry 0 chooses '{wrong}' at 'gemm'"):
        vendor.choices.install({ChoiceKey("gemm", (1,)): wrong})
    with pytest.raises(VendorError, match="choice point 'sum', which is unknown"):
        vendor.choices.install({ChoiceKey("sum", (1,)): "own"})
    before = vendor.choices.statistics()
    product(vendor)
    assert used(vendor, before) == (1, 0)


def test_a_request_is_called_once_and_before_the_choice(vendor: Vendor) -> None:
    key, _ = recorded_key(vendor)
    asked = []

    def wanted() -> None:
        asked.append(None)
        vendor.choices.install({key: "own"})

    before = vendor.choices.statistics()
    vendor.choices.request(wanted)
    assert asked == []
    product(vendor)
    product(vendor)
    assert len(asked) == 1 and used(vendor, before) == (2, 0)
    vendor.choices.request(wanted)
    vendor.choices.request(None)
    product(vendor)
    assert len(asked) == 1


def test_the_identity_names_what_measurements_depend_on(vendor: Vendor) -> None:
    identity = vendor.choices.identity()
    assert identity.startswith(f"cpu {vendor.version}, ")
    assert vendor.properties().architecture in identity
    assert "oneDNN" in identity and "OpenBLAS" in identity
