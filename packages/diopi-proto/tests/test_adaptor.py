"""Casts and layout conversions of a vendor's adaptor.yaml between this host and its operators.

The vendor of ``fixtures/narrow.inc`` supports only float32 and int32, and requires channels-last
for one operator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor, load_vendor, schema
from diopi_proto.dtypes import float32_to_bfloat16

Compile = Callable[..., Path]
Load = Callable[..., Vendor]

NARROW = '-DFIXTURE_OPERATORS="narrow.inc"'
HIDDEN = ("-DFIXTURE_HIDDEN=1", "-DFIXTURE_DEFERRED=1", "-DFIXTURE_CAPABILITIES=0")
PLACES = pytest.mark.parametrize("hidden", [False, True], ids=["host", "device"])
CASTS = "cast: {int64: int32, float64: float32}"
ALL = f"version: 1\nall: {{{CASTS}}}\noperators:\n  diopiRelu: {{layout: channels_last}}\n"


@pytest.fixture
def adapted(
    build: Compile, copied: Callable[[Path], Path], tmp_path: Path
) -> Iterator[Callable[..., Vendor]]:
    """``adapted("version: 1 ...", "-DNARROW_CAST=2", hidden=True)`` loads the adapted vendor."""
    loaded: list[Vendor] = []

    def load(text: str = ALL, *flags: str, hidden: bool = False, guarded: bool = True) -> Vendor:
        library = copied(build("vendor.cpp", NARROW, *(HIDDEN if hidden else ()), *flags))
        path = tmp_path / f"adaptor-{len(loaded)}.yaml"
        path.write_text(text, encoding="utf-8")
        vendor = load_vendor(library, adaptor=path)
        if guarded:
            vendor.guard_calls()
        loaded.append(vendor)
        return vendor

    yield load
    for vendor in loaded:
        vendor.close()


def done(vendor: Vendor) -> dict[str, int]:
    """Return the conversions and their counts."""
    found: dict[str, int] = {}
    for one in vendor.conversions():
        found[f"{one.operator} {one}"] = found.get(f"{one.operator} {one}", 0) + one.times
    return found


@contextmanager
def refused(*words: str) -> Iterator[None]:
    with pytest.raises(OperatorError) as caught:
        yield
    for word in words:
        assert word in str(caught.value)


@PLACES
def test_inputs_and_outputs_are_cast_and_counted(adapted: Load, hidden: bool) -> None:
    vendor = adapted(hidden=hidden)
    a = vendor.tensor([1.5, 2.5, -1.0], "float64")
    out = vendor.empty((3,), "float64")
    vendor.op.Add(out, a, vendor.tensor([1.0, 0.25, 8.0], "float64"), 2)
    assert out.dtype.name == "float64"
    assert out.numpy().tolist() == [3.5, 3.0, 15.0]
    assert a.numpy().tolist() == [1.5, 2.5, -1.0]
    assert done(vendor) == {
        "diopiAdd input: float64→float32": 1,
        "diopiAdd other: float64→float32": 1,
        "diopiAdd out: float32→float64": 1,
    }
    vendor.reset_conversions()
    assert done(vendor) == {}


@PLACES
def test_what_fits_already_is_left_alone(adapted: Load, hidden: bool) -> None:
    vendor = adapted(hidden=hidden)
    a, out = vendor.tensor([1.0, 2.0], "float32"), vendor.empty((2,), "float32")
    vendor.op.Add(out, a, a, 1)
    assert out.numpy().tolist() == [2.0, 4.0]
    assert done(vendor) == {}


@PLACES
def test_indices_are_cast_where_only_they_need_it(adapted: Load, hidden: bool) -> None:
    vendor = adapted(hidden=hidden)
    out = vendor.empty((2,), "float32")
    vendor.op.IndexSelect(
        out, vendor.tensor([1.0, 2.0, 3.0], "float32"), 0, vendor.tensor([2, 0], "int64")
    )
    assert out.numpy().tolist() == [3.0, 1.0]
    assert done(vendor) == {"diopiIndexSelect index: int64→int32": 1}


@PLACES
def test_what_is_written_in_place_goes_both_ways(adapted: Load, hidden: bool) -> None:
    vendor = adapted(hidden=hidden)
    x = vendor.tensor(np.arange(6).reshape(2, 3).T, "int64")  # strided
    vendor.op.AddInp(x, vendor.tensor(np.ones((3, 2)), "int64"), 10)
    assert x.numpy().tolist() == [[10, 13], [11, 14], [12, 15]]
    assert done(vendor) == {
        "diopiAddInp input: int64→int32": 1,
        "diopiAddInp other: int64→int32": 1,
        "diopiAddInp input: int32→int64": 1,
    }


@PLACES
def test_handles_that_an_operator_stores_are_what_the_host_expects(
    adapted: Load, hidden: bool
) -> None:
    vendor = adapted(hidden=hidden)
    found = vendor.op.Nonzero(vendor.tensor([0.0, 3.0, 0.0, 4.0], "float64"))
    assert found.dtype.name == "int64"
    assert found.numpy().tolist() == [[1], [3]]
    assert done(vendor) == {
        "diopiNonzero input: float64→float32": 1,
        "diopiNonzero out: int32→int64": 1,
    }
    # The result has the dtype of an input, and may be the converted input itself.
    passed = vendor.op.Unique(vendor.tensor([2.0], "float64"), None, True, False, None, counts=None)
    assert passed[0].dtype.name == "float64"
    assert passed[0].numpy().tolist() == [2.0]


@PLACES
def test_arrays_of_tensors_are_cast_one_by_one(adapted: Load, hidden: bool) -> None:
    vendor = adapted(hidden=hidden)
    out = vendor.empty((3,), "float64")
    parts = [vendor.tensor([1.0], "float64"), vendor.tensor([2.0, 3.0], "float64")]
    vendor.op.Cat(out, parts, 0)
    assert out.numpy().tolist() == [1.0, 2.0, 3.0]
    vendor.op.ForeachaddInpScalar(parts, 0.5)
    assert [part.numpy().tolist() for part in parts] == [[1.5], [2.5, 3.5]]
    assert done(vendor)["diopiForeachaddInpScalar inputs: float32→float64"] == 2


@PLACES
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "flags", [(), ("-DNARROW_CAST=2",), ("-DNARROW_COPY=0",), ("-DNARROW_CAST=0",)]
)
def test_layouts_are_converted(
    adapted: Load, hidden: bool, dtype: str, flags: tuple[str, ...]
) -> None:
    vendor = adapted(ALL, *flags, hidden=hidden)
    values = np.linspace(-1, 1, 2 * 3 * 4 * 5).reshape(2, 3, 4, 5).astype("float32")
    x, out = vendor.tensor(values, dtype), vendor.empty(values.shape, dtype)
    vendor.op.Relu(out, x)
    assert np.array_equal(out.numpy(), np.maximum(values, 0))
    moved = [f"{one.source} {one.target}" for one in vendor.conversions()]
    assert all("channels_last" in one and "contiguous" in one for one in moved)
    assert len(moved) == 2


def test_a_tensor_in_the_layout_is_left_alone(adapted: Load) -> None:
    vendor = adapted()
    values = np.linspace(-1, 1, 2 * 3 * 4 * 5).reshape(2, 4, 5, 3).astype("float32")
    x = vendor.tensor(values.transpose(0, 3, 1, 2))
    out = vendor.tensor(np.zeros_like(values).transpose(0, 3, 1, 2))
    vendor.op.Relu(out, x)
    assert np.array_equal(out.numpy(), np.maximum(values, 0).transpose(0, 3, 1, 2))
    assert done(vendor) == {}


@PLACES
@pytest.mark.parametrize("flags", [(), ("-DNARROW_CAST=0",), ("-DNARROW_CAST=2",)])
def test_a_value_that_does_not_fit_is_an_error_and_nothing_is_written(
    adapted: Load, hidden: bool, flags: tuple[str, ...]
) -> None:
    vendor = adapted(ALL, *flags, hidden=hidden)
    x = vendor.tensor(np.array([[1, 2], [3, -(2**31) - 1]]), "int64")
    with refused("[diopiAddInp] input: the value -2147483649 at position 3", "int32", "int64"):
        vendor.op.AddInp(x, vendor.tensor(np.ones((2, 2)), "int64"), 1)
    assert x.numpy().tolist() == [[1, 2], [3, -(2**31) - 1]]
    y, out = vendor.tensor([1e39, 1.0], "float64"), vendor.tensor([5.0, 5.0], "float64")
    with refused("[diopiAdd] input: the value 9.99", "at position 0", "float32"):
        vendor.op.Add(out, y, y, 1)
    assert out.numpy().tolist() == [5.0, 5.0]


def test_infinities_fit_and_nan_too(adapted: Load) -> None:
    vendor = adapted()
    x, out = vendor.tensor([np.inf, -np.inf, np.nan], "float64"), vendor.empty((3,), "float64")
    vendor.op.Add(out, x, vendor.tensor([1.0, 1.0, 1.0], "float64"), 1)
    assert np.array_equal(out.numpy(), [np.inf, -np.inf, np.nan], equal_nan=True)


WIDENING = "version: 1\noperators:\n  diopiAdd: {cast: {uint8: int32}%s}\n"


@PLACES
def test_an_integer_result_that_does_not_fit_is_an_error_unless_it_may_wrap(
    adapted: Load, hidden: bool
) -> None:
    vendor = adapted(WIDENING % "", hidden=hidden)
    x, out = vendor.tensor([200, 1], "uint8"), vendor.tensor([9, 9], "uint8")
    with refused("[diopiAdd] out: the value 400 at position 0 does not fit uint8"):
        vendor.op.Add(out, x, x, 1)
    assert out.numpy().tolist() == [9, 9]
    wrapping = adapted(WIDENING % ", wrap: true", hidden=hidden)
    x, out = wrapping.tensor([200, 1], "uint8"), wrapping.tensor([9, 9], "uint8")
    wrapping.op.Add(out, x, x, 1)
    assert out.numpy().tolist() == [400 - 256, 2]


@PLACES
def test_a_float_result_beyond_its_dtype_is_infinite_as_in_that_dtype(
    adapted: Load, hidden: bool
) -> None:
    text = "version: 1\nall: {cast: {float16: float32, bfloat16: float32}}\n"
    vendor = adapted(text, hidden=hidden)
    x, out = vendor.tensor([60000.0, 1.0 / 3], "float16"), vendor.empty((2,), "float16")
    vendor.op.Add(out, x, x, 1)
    assert np.array_equal(out.numpy(), np.array([np.inf, 2.0 / 3], "float16"))
    y, out = vendor.tensor([1.0, 1.0 / 3], "bfloat16"), vendor.empty((2,), "bfloat16")
    vendor.op.Add(out, y, y, 1)
    assert np.array_equal(out.numpy(), float32_to_bfloat16(np.float32([2.0, 2.0 / 3])))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_the_host_converts_halves_as_numpy_does(adapted: Load, dtype: str) -> None:
    vendor = adapted(f"version: 1\nall: {{cast: {{{dtype}: float32}}}}\n", "-DNARROW_CAST=0")
    # All 16-bit numbers, to float32 and back.
    bits = np.arange(1 << 16, dtype=np.uint16)
    storage = "float16" if dtype == "float16" else "uint16"
    every, zeros = bits.view(storage), np.full(1 << 16, 0x8000, np.uint16).view(storage)
    out = vendor.empty(bits.shape, dtype)
    vendor.op.Add(out, vendor.tensor(every, dtype), vendor.tensor(zeros, dtype), 1)
    widened = vendor.tensor(every, dtype).float32()
    number = ~np.isnan(widened)
    assert np.array_equal(out.numpy().view(np.uint16)[number], bits[number])
    assert np.isnan(out.float32()[~number]).all()
    # Sums that must be rounded.
    a, b = (np.random.default_rng(s).standard_normal(4096).astype("float32") for s in (1, 2))
    x, y = vendor.tensor(a, dtype), vendor.tensor(b * np.float32(1e-3), dtype)
    out = vendor.empty(a.shape, dtype)
    vendor.op.Add(out, x, y, 1)
    total = x.float32() + y.float32()
    want = total.astype("float16") if dtype == "float16" else float32_to_bfloat16(total)
    assert np.array_equal(out.numpy(), want)


def test_what_the_vendor_cannot_convert_the_host_does(adapted: Load) -> None:
    vendor = adapted(ALL, "-DNARROW_CAST=0", hidden=True)
    out = vendor.empty((2,), "float32")
    vendor.op.IndexSelect(
        out, vendor.tensor([1.0, 2.0, 3.0], "float32"), 0, vendor.tensor([2, 0], "int64")
    )
    assert out.numpy().tolist() == [3.0, 1.0]
    assert done(vendor) == {"diopiIndexSelect index: int64→int32 (on the host)": 1}


def test_the_host_waits_before_it_touches_memory_that_it_shares(adapted: Load) -> None:
    shared = ("-DFIXTURE_DEFERRED=1", "-DFIXTURE_CAPABILITIES=DL_CAP_HOST_ACCESSIBLE")
    vendor = adapted(ALL, "-DNARROW_CAST=0", *shared, guarded=False)
    x = vendor.tensor([1, 2, 3], "int64")
    for _ in range(3):
        vendor.op.AddInp(x, x, 1, synchronize=False)
    assert x.numpy().tolist() == [8, 16, 24]


def test_what_lies_between_the_elements_of_a_result_stays(adapted: Load) -> None:
    vendor = adapted(ALL, "-DNARROW_CAST=0", hidden=True)
    whole = vendor.tensor([0.0, 1.0, 2.0, 3.0], "float64")
    out = whole.as_strided((2,), (2,))
    x = vendor.tensor([10.0, 20.0], "float64")
    vendor.op.Add(out, x, x, 1)
    assert whole.numpy().tolist() == [20.0, 1.0, 40.0, 3.0]


@PLACES
def test_a_conversion_that_fails_is_an_error_with_the_vendors_reason(
    adapted: Load, hidden: bool
) -> None:
    vendor = adapted(ALL, "-DNARROW_CAST=3", hidden=hidden)
    out = vendor.tensor([5.0], "float64")
    x = vendor.tensor([1.0], "float64")
    with refused("[diopiAdd] input: diopiCastDtype", "the caster is broken", "float64 to float32"):
        vendor.op.Add(out, x, x, 1)
    assert out.numpy().tolist() == [5.0]


def test_errors_of_the_operator_itself_are_the_vendors(adapted: Load) -> None:
    vendor = adapted()
    x, out = vendor.tensor([1.0], "float64"), vendor.tensor([5.0], "float64")
    with refused("the sign is stuck"):
        vendor.op.Neg(out, x)
    assert out.numpy().tolist() == [5.0]
    # An earlier error of the adaptor is not reported again.
    big = vendor.tensor([2**40], "int64")
    with refused("the value"):
        vendor.op.Add(vendor.empty((1,), "int64"), big, big, 1)
    with refused("the sign is stuck"):
        vendor.op.Neg(out, x)


@PLACES
def test_what_the_vendor_declines_is_declined(adapted: Load, hidden: bool) -> None:
    vendor = adapted(hidden=hidden)
    x, out = vendor.tensor([[1.0]], "float64"), vendor.tensor([[5.0]], "float64")
    with refused("diopiNoImplement"):
        vendor.op.Relu(out, x)  # two dimensions
    half = vendor.tensor([1.0], "float16")
    with refused("diopiDtypeNotSupported"):
        vendor.op.Add(half, half, half, 1)
    assert out.numpy().tolist() == [[5.0]]


def test_a_vendor_that_checks_by_itself_is_not_waited_for(adapted: Load) -> None:
    text = f"version: 1\noverflow: vendor\nall: {{{CASTS}}}\n"
    vendor = adapted(text, "-DNARROW_CAST=4", hidden=True, guarded=False)
    out = vendor.empty((2,), "float32")
    source, index = vendor.tensor([1.0, 2.0], "float32"), vendor.tensor([1, 2**40], "int64")
    vendor.op.IndexSelect(out, source, 0, index, synchronize=False)
    with refused("1099511627776 at position 1 does not fit"):
        vendor.synchronize()
    assert done(vendor) == {"diopiIndexSelect index: int64→int32": 1}


@PLACES
def test_empty_tensors_are_adapted(adapted: Load, hidden: bool) -> None:
    vendor = adapted(hidden=hidden)
    out = vendor.empty((0, 3), "float64")
    vendor.op.Add(out, vendor.empty((0, 3), "float64"), vendor.empty((0, 3), "float64"), 1)
    assert out.shape == (0, 3)
    assert vendor.op.Nonzero(vendor.empty((0,), "float64")).shape == (0, 1)


def test_instances_of_one_library_have_adaptors_of_their_own(
    build: Compile, copied: Callable[[Path], Path], tmp_path: Path
) -> None:
    library = copied(build("vendor.cpp", NARROW))
    path = tmp_path / "adaptor.yaml"
    path.write_text(ALL, encoding="utf-8")
    for _ in range(3):
        with load_vendor(library, adaptor=path) as one, load_vendor(library) as bare:
            x, out = one.tensor([1.0], "float64"), one.empty((1,), "float64")
            one.op.Add(out, x, x, 1)
            assert out.numpy().tolist() == [2.0]
            assert sum(done(one).values()) == 3
            assert bare.adaptor is None
            assert bare.conversions() == []
            y = bare.tensor([1.0], "float64")
            with refused("diopiDtypeNotSupported"):
                bare.op.Add(bare.empty((1,), "float64"), y, y, 1)


def test_an_operator_without_a_rule_is_the_vendors_own(
    build: Compile, copied: Callable[[Path], Path], tmp_path: Path
) -> None:
    library = copied(build("vendor.cpp", NARROW))
    path = tmp_path / "adaptor.yaml"
    path.write_text("version: 1\noperators:\n  diopiAdd: {cast: {int64: int32}}\n")
    with load_vendor(library, adaptor=path) as adapted, load_vendor(library) as bare:
        ours, theirs = adapted._instance, bare._instance
        names = [name for name, bound in bare.operators.items() if bound]
        others = {name for name in names if _function(ours, name) != _function(theirs, name)}
    assert others == {"diopiAdd"}


def _function(instance: Any, name: str) -> Any:
    return instance.function(schema.load()[name])


def test_streams_run_in_order_and_nothing_is_left(
    adapted: Load, counters: Callable[[Path], object]
) -> None:
    vendor = adapted(hidden=True, guarded=False)
    stream, x = vendor.stream(), vendor.tensor([1, 2, 3], "int64")
    for _ in range(5):
        vendor.op.AddInp(x, x, 1, stream=stream, synchronize=False)
    assert x.numpy().tolist() == [32, 64, 96]
    path = vendor.path
    del x, stream
    vendor.close()
    assert counters(path).blocks == 0  # type: ignore[attr-defined]
