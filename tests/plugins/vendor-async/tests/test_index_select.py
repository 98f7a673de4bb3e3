"""Tests of reads at positions that only the device knows, and of invalid positions."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, ffi, load_vendor
from dl_vendor_async_test.plugin import dl_vendor
from driver import ERROR_OCCURRED, SUCCESS, StatusError

FOUND = r"index 7 at position 1 is out of range \[0, 4\)"


@pytest.fixture
def vendor():
    with load_vendor(dl_vendor().library) as opened:
        yield opened


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "complex128"])
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("index", [[1, 0, 2, 1], []])
def test_slices_are_copied(vendor, dtype, dim, index):
    x = np.arange(12).reshape(3, 4).astype(dtype)
    shape = list(x.shape)
    shape[dim] = len(index)
    for strided in (x, np.asfortranarray(x)):
        out = vendor.empty(shape, dtype)
        vendor.op.IndexSelect(out, vendor.tensor(strided), dim, vendor.tensor(np.int32(index)))
        assert out.numpy().tolist() == x.take(np.int64(index), axis=dim).tolist()


def test_a_wrong_shape_is_refused(vendor):
    x, index = vendor.tensor(np.ones(4)), vendor.tensor(np.array([0, 1]))
    with pytest.raises(OperatorError, match="the output needs one slice per index"):
        vendor.op.IndexSelect(vendor.empty((3,), "float64"), x, 0, index)


def test_an_index_out_of_range_is_found_after_the_call(vendor):
    stream = vendor.stream()
    x, index = vendor.tensor(np.arange(4.0)), vendor.tensor(np.array([3, 7, -1]))
    out = vendor.tensor(np.zeros(3))
    vendor.op.IndexSelect(out, x, 0, index, stream=stream, synchronize=False)
    with pytest.raises(OperatorError, match=rf"\[diopiIndexSelect\] {FOUND}"):
        stream.synchronize()
    assert out.numpy().tolist() == [3, 0, 0]


def test_a_graph_finds_it_wherever_it_is_launched(vendor):
    captured, elsewhere = vendor.stream(), vendor.stream()
    x, index = vendor.tensor(np.arange(4.0)), vendor.tensor(np.array([3, 1]))
    out = vendor.tensor(np.zeros(2))
    with vendor.graphs.capture(captured) as graph:
        vendor.op.IndexSelect(out, x, 0, index, stream=captured, synchronize=False)
    graph.launch(elsewhere)
    assert out.numpy().tolist() == [3, 1]
    index.copy_from([3, 7])
    for _ in range(2):
        with pytest.raises(OperatorError, match=FOUND):
            graph.launch(elsewhere)
    index.copy_from([1, 0])
    graph.launch(elsewhere)
    assert out.numpy().tolist() == [1, 0]


def test_without_a_word_it_fails_as_all_work_does(driver):
    x, index = driver.tensor(np.arange(4.0)), driver.tensor(np.array([3, 7]))
    out = driver.tensor(np.zeros(2))
    assert driver.run("diopiIndexSelect", out, x, 0, index) == SUCCESS
    with pytest.raises(StatusError, match=rf"\[diopiIndexSelect\] {FOUND}"):
        driver.synchronize()
    driver.synchronize()


def test_a_word_outside_of_the_device_is_refused(driver):
    word = ffi.new("dl_device_error_t*")

    @ffi.callback("diopiError_t(diopiContextHandle_t, dl_device_error_t**)")
    def give(context, out):
        out[0] = word
        return SUCCESS

    driver._handle_ops.device_error = give
    x, index = driver.tensor(np.arange(4.0)), driver.tensor(np.array([3]))
    assert driver.run("diopiIndexSelect", driver.tensor(np.zeros(1)), x, 0, index) == ERROR_OCCURRED
    assert "256 bytes" in driver.last_error()
