"""Tests of the results, in every layout that a host may pass. The reference is numpy in float64."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import ffi
from driver import DTYPE_NOT_SUPPORTED, ERROR_OCCURRED, SUCCESS, Tensor, scalar

TRUNC, FLOOR = 1, 2
X = np.array([[-2.0, -0.5, 0.0], [0.25, 1.0, 3.0]])
Y = np.array([[1.5, -2.0, 4.0], [0.5, -1.0, 2.0]])


def close(actual, expected):
    bound = 8 * np.finfo(actual.dtype).eps
    np.testing.assert_allclose(actual, expected, rtol=bound, atol=bound)


def softmax(x):
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("diopiNeg", (), -X),
        ("diopiExp", (), np.exp(X)),
        ("diopiRelu", (), np.maximum(X, 0)),
        ("diopiSigmoid", (), 1 / (1 + np.exp(-X))),
        ("diopiTanh", (), np.tanh(X)),
        ("diopiSoftmax", (1,), softmax(X)),
        ("diopiSoftmax", (-1,), softmax(X)),
        ("diopiSoftmax", (0,), softmax(X.T).T),
        ("diopiAddScalar", (scalar(1.5), scalar(2)), X + 3),
        ("diopiSubScalar", (scalar(1.5), scalar(2)), X - 3),
        ("diopiMulScalar", (scalar(2.5),), X * 2.5),
        ("diopiDivScalar", (scalar(2), 0), X / 2),
        ("diopiDivScalar", (scalar(2), TRUNC), np.trunc(X / 2)),
        ("diopiDivScalar", (scalar(2), FLOOR), np.floor(X / 2)),
    ],
)
def test_one_input(driver, dtype, name, arguments, expected):
    source, out = driver.tensor(X.astype(dtype)), driver.empty(X.shape, dtype)
    assert driver.run(name, out, source, *arguments) == SUCCESS
    close(driver.array(out), expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("diopiAdd", (scalar(3),), X + 3 * Y),
        ("diopiSub", (scalar(0.5),), X - 0.5 * Y),
        ("diopiMul", (), X * Y),
        ("diopiDiv", (0,), X / Y),
        ("diopiDiv", (TRUNC,), np.trunc(X / Y)),
        ("diopiDiv", (FLOOR,), np.floor(X / Y)),
        ("diopiThresholdBackward", (scalar(-1.5),), np.where(Y <= -1.5, 0, X)),
    ],
)
def test_two_inputs(driver, dtype, name, arguments, expected):
    first, second = driver.tensor(X.astype(dtype)), driver.tensor(Y.astype(dtype))
    out = driver.empty(X.shape, dtype)
    assert driver.run(name, out, first, second, *arguments) == SUCCESS
    close(driver.array(out), expected)


def test_output_may_be_the_input(driver):
    tensor = driver.tensor(X)
    assert driver.run("diopiMul", tensor, tensor, tensor) == SUCCESS
    close(driver.array(tensor), X * X)


def test_inputs_broadcast(driver):
    column, row = driver.tensor(X[:, :1].copy()), driver.tensor(Y[0])
    out = driver.empty((2, 3), "float64")
    assert driver.run("diopiAdd", out, column, row, scalar(1)) == SUCCESS
    close(driver.array(out), X[:, :1] + Y[0])


def test_strides_of_input_and_output_count(driver):
    source = driver.tensor(X)
    turned = Tensor(source.address, (3, 2), "float64", strides=(1, 3))
    memory = driver.tensor(np.zeros((2, 3)))
    out = Tensor(memory.address, (3, 2), "float64", strides=(1, 3))
    assert driver.run("diopiNeg", out, turned) == SUCCESS
    close(driver.array(memory), -X)


def test_tensors_without_dimensions_or_elements(driver):
    point = driver.tensor(np.array(2.0))
    out = driver.empty((), "float64")
    assert driver.run("diopiExp", out, point) == SUCCESS
    close(driver.array(out), np.exp(2.0))
    nothing = Tensor(0, (0, 3), "float32")
    assert driver.run("diopiExp", nothing, nothing) == SUCCESS
    driver.synchronize()


def test_nan_passes_through_relu(driver):
    tensor = driver.tensor(np.array([np.nan, -1.0]))
    assert driver.run("diopiRelu", tensor, tensor) == SUCCESS
    np.testing.assert_array_equal(driver.array(tensor), [np.nan, 0.0])


def test_integers_wrap_and_round_as_asked(driver):
    a = np.array([7, -7, 7, -7, -(2**63), 2**63 - 1])
    b = np.array([2, 2, -2, -2, -1, 1])
    first, second = driver.tensor(a), driver.tensor(b)
    out = driver.empty(a.shape, "int64")
    assert driver.run("diopiDiv", out, first, second, FLOOR) == SUCCESS
    assert driver.array(out).tolist() == [3, -4, -4, 3, -(2**63), 2**63 - 1]
    assert driver.run("diopiDiv", out, first, second, TRUNC) == SUCCESS
    assert driver.array(out).tolist() == [3, -3, -3, 3, -(2**63), 2**63 - 1]
    assert driver.run("diopiAdd", out, first, second, scalar(1)) == SUCCESS
    assert driver.array(out).tolist() == [9, -5, 5, -9, 2**63 - 1, -(2**63)]


def test_integer_quotient_without_rounding_needs_a_fraction(driver):
    tensor = driver.tensor(np.array([7, 8]))
    assert driver.run("diopiDivScalar", tensor, tensor, scalar(2), 0) == DTYPE_NOT_SUPPORTED
    out = driver.empty((2,), "float64")
    assert driver.run("diopiDivScalar", out, tensor, scalar(2), 0) == SUCCESS
    assert driver.array(out).tolist() == [3.5, 4.0]


@pytest.mark.parametrize(
    ("name", "expected"), [("diopiEq", np.equal(X, X.T[0:1, 0:1])), ("diopiGt", X > -2.0)]
)
def test_comparison_gives_bools(driver, name, expected):
    source, other = driver.tensor(X), driver.tensor(X[:1, :1].copy())
    out = driver.empty(X.shape, "bool")
    assert driver.run(name, out, source, other) == SUCCESS
    assert (driver.array(out) == expected).all()
    out = driver.empty(X.shape, "bool")
    assert driver.run(f"{name}Scalar", out, source, scalar(-2.0)) == SUCCESS
    assert (driver.array(out) == expected).all()


def test_comparison_of_large_integers_is_exact(driver):
    first, second = driver.tensor(np.array([2**53 + 1])), driver.tensor(np.array([2**53]))
    out = driver.empty((1,), "bool")
    assert driver.run("diopiGt", out, first, second) == SUCCESS
    assert driver.array(out).tolist() == [True]


def test_float32_is_compared_in_its_own_precision(driver):
    source, out = driver.tensor(np.array([0.1], np.float32)), driver.empty((1,), "bool")
    assert driver.run("diopiEqScalar", out, source, scalar(0.1)) == SUCCESS
    assert driver.array(out).tolist() == [True]


def dims(*values):
    data = ffi.new("int64_t[]", list(values) or [0])
    return data, {"data": data, "len": len(values)}


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("keepdims", [True, False])
@pytest.mark.parametrize("axes", [(), (0,), (-1,), (0, 2), (0, 1, 2)])
def test_sum(driver, dtype, keepdims, axes):
    data = np.arange(24).reshape(2, 3, 4).astype(dtype) - 5
    expected = data.sum(axis=axes or None, keepdims=keepdims)
    source, out = driver.tensor(data), driver.empty(expected.shape, dtype)
    keep, size = dims(*axes)
    assert driver.run("diopiSum", out, source, ffi.new("diopiSize_t*", size)[0]) == SUCCESS
    assert keep is not None
    np.testing.assert_array_equal(driver.array(out), expected)


def test_sum_of_nothing_is_zero(driver):
    keep, size = dims()
    out = driver.empty((), "float32")
    nothing = Tensor(0, (0,), "float32")
    assert driver.run("diopiSum", out, nothing, ffi.new("diopiSize_t*", size)[0]) == SUCCESS
    assert driver.array(out) == 0
    assert keep is not None


def test_sum_into_a_wrong_shape_is_refused(driver):
    keep, size = dims(0)
    source, out = driver.tensor(X), driver.empty((2,), "float64")
    assert driver.run("diopiSum", out, source, ffi.new("diopiSize_t*", size)[0]) == ERROR_OCCURRED
    assert "output's shape" in driver.last_error()
    assert keep is not None


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_mm(driver, dtype):
    a = np.arange(6).reshape(2, 3).astype(dtype)
    b = np.arange(12).reshape(3, 4).astype(dtype) - 4
    out = driver.empty((2, 4), dtype)
    assert driver.run("diopiMm", out, driver.tensor(a), driver.tensor(b)) == SUCCESS
    np.testing.assert_array_equal(driver.array(out), a @ b)


def test_mm_of_a_transposed_view(driver):
    a, b = np.arange(6.0).reshape(3, 2), np.arange(6.0).reshape(3, 2) - 2
    turned = driver.tensor(a)
    turned = Tensor(turned.address, (2, 3), "float64", strides=(1, 2))
    out = driver.empty((2, 2), "float64")
    assert driver.run("diopiMm", out, turned, driver.tensor(b)) == SUCCESS
    np.testing.assert_array_equal(driver.array(out), a.T @ b)


def test_mm_of_shapes_that_do_not_fit_is_refused(driver):
    a = driver.tensor(X)
    assert driver.run("diopiMm", driver.empty((2, 2), "float64"), a, a) == ERROR_OCCURRED
    assert driver.last_error().startswith("[diopiMm]")


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "int64", "float32"])
@pytest.mark.parametrize("source_dtype", ["bool", "uint8", "int16", "int64", "float64"])
def test_cast_and_copy_convert(driver, source_dtype, dtype):
    data = np.array([0, 1, 100], np.float64).astype(source_dtype)
    for name in ("diopiCastDtype", "diopiCopyInp"):
        source, out = driver.tensor(data), driver.empty(data.shape, dtype)
        pair = (source, out) if name == "diopiCopyInp" else (out, source)
        assert driver.run(name, *pair) == SUCCESS
        np.testing.assert_array_equal(driver.array(out), data.astype(dtype))


def test_copy_of_equal_dtypes_needs_no_arithmetic(driver):
    data = np.arange(6, dtype=np.float16).reshape(2, 3)
    source = driver.tensor(data)
    turned = Tensor(source.address, (3, 2), "float16", strides=(1, 3))
    out = driver.empty((3, 2), "float16")
    assert driver.run("diopiCopyInp", turned, out) == SUCCESS
    np.testing.assert_array_equal(driver.array(out), data.T)


@pytest.mark.parametrize(("dtype", "value"), [("float32", 1.5), ("int64", 2**62 + 1), ("bool", 1)])
def test_fill(driver, dtype, value):
    out = driver.empty((2, 2), dtype)
    assert driver.run("diopiFill", out, scalar(value)) == SUCCESS
    assert (driver.array(out) == np.full((2, 2), value, dtype)).all()


def test_masked_select_takes_its_size_from_the_data(driver):
    source, mask = driver.tensor(X), driver.tensor(np.array([True, False, True]))
    out = ffi.new("diopiTensorHandle_t*")
    assert driver.run("diopiMaskedSelect", out, source, mask) == SUCCESS
    assert out[0] == driver.required[0].handle
    close(driver.array(driver.required[0]), X[:, [True, False, True]].ravel())


def test_masked_select_of_nothing_is_empty(driver):
    mask = driver.tensor(np.zeros(3, bool))
    out = ffi.new("diopiTensorHandle_t*")
    assert driver.run("diopiMaskedSelect", out, driver.tensor(X), mask) == SUCCESS
    assert driver.required[0].shape == (0,)


@pytest.mark.parametrize("data", [X, X > 0, np.zeros((2, 2)), np.arange(3), np.array(5.0)])
def test_nonzero(driver, data):
    out = ffi.new("diopiTensorHandle_t*")
    assert driver.run("diopiNonzero", out, driver.tensor(data)) == SUCCESS
    expected = np.argwhere(data)
    assert driver.required[0].shape == expected.shape
    np.testing.assert_array_equal(driver.array(driver.required[0]), expected)


def test_size_that_is_data_waits_for_its_own_stream_only(driver):
    busy, stream = driver.stream(), driver.stream()
    driver.control.hold(0, busy)
    driver.set(driver.allocate(8), 1, 8, busy)
    out = ffi.new("diopiTensorHandle_t*")
    tensor = driver.tensor(X)
    driver.synchronize()
    assert driver.run("diopiNonzero", out, tensor, stream=stream) == SUCCESS
    expected = np.argwhere(X)
    np.testing.assert_array_equal(driver.array(driver.required[0], stream), expected)
    assert not driver.finished(busy)


@pytest.mark.parametrize("name", ["diopiNeg", "diopiExp", "diopiRelu"])
@pytest.mark.parametrize("dtype", ["float16", "bool", "int32"])
def test_other_dtypes_are_declined(driver, name, dtype):
    tensor = driver.tensor(np.ones(2, dtype))
    assert driver.run(name, tensor, tensor) == DTYPE_NOT_SUPPORTED


def test_fraction_is_declined_for_an_integer_output(driver):
    tensor = driver.tensor(np.ones(2, np.int64))
    assert driver.run("diopiExp", tensor, tensor) == DTYPE_NOT_SUPPORTED
