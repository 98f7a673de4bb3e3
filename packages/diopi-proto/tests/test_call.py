"""Calls of operators: arguments, results, and error messages."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from diopi_proto import (
    ArgumentError,
    Generator,
    OperatorError,
    OperatorNotBoundError,
    OutOfMemoryError,
    Tensor,
    Vendor,
    load_vendor,
)

Compile = Callable[..., Path]


def _tensor(vendor: Vendor, *values: float) -> Tensor:
    return vendor.tensor(np.array(values, np.float32))


def test_call_and_attribute_are_the_same(vendor: Vendor) -> None:
    a, b, out = _tensor(vendor, 1, 2), _tensor(vendor, 10, 20), vendor.empty((2,))
    assert vendor.call("diopiAdd", out, a, b, 1) is None
    assert out.numpy().tolist() == [11, 22]
    vendor.op.Add(out, a, b, alpha=2)
    assert out.numpy().tolist() == [21, 42]
    vendor.op.diopiAdd(out, input=a, other=b, alpha=-1.0)
    assert out.numpy().tolist() == [-9, -18]


def test_strided_and_broadcast_tensors_reach_the_operator(vendor: Vendor) -> None:
    a = vendor.tensor(np.arange(6, dtype=np.float32).reshape(2, 3).T)
    b = vendor.tensor(np.broadcast_to(np.float32(100), (3, 2)))
    out = vendor.empty((3, 2), strides=(1, 3))
    vendor.op.Add(out, a, b, 1)
    assert out.numpy().tolist() == [[100, 103], [101, 104], [102, 105]]


@pytest.mark.parametrize(
    ("value", "expected"),
    [(True, 1), (3, 3), (2.5, 2.5), (np.float32(1.5), 1.5), (np.int8(-4), -4), (np.bool_(True), 1)],
)
def test_scalars_are_passed_by_kind(vendor: Vendor, value: object, expected: float) -> None:
    tensor = vendor.empty((2,))
    vendor.op.Fill(tensor, value)
    assert tensor.numpy().tolist() == [expected, expected]


def test_none_is_null_where_the_schema_allows_it(vendor: Vendor) -> None:
    tensor = _tensor(vendor, -5, 0, 5)
    vendor.op.ClampInpScalar(tensor, None, 1)
    assert tensor.numpy().tolist() == [-5, 0, 1]
    vendor.op.ClampInpScalar(tensor, -1.5, None)
    assert tensor.numpy().tolist() == [-1.5, 0, 1]


def test_required_tensors_are_returned(vendor: Vendor) -> None:
    found = vendor.op.Nonzero(_tensor(vendor, 0, 3, 0, 4))
    assert found.dtype.name == "int64"
    assert found.shape == (2, 1)
    assert found.numpy().tolist() == [[1], [3]]


def test_host_numbers_are_returned(vendor: Vendor) -> None:
    a, b = _tensor(vendor, 1, 2), _tensor(vendor, 1, 3)
    assert vendor.op.Equal(a, a) is True
    assert vendor.op.Equal(a, b) is False


def test_arrays_carry_their_count(vendor: Vendor) -> None:
    out = vendor.empty((5,))
    vendor.op.Cat(out, [_tensor(vendor, 1, 2), _tensor(vendor, 3), _tensor(vendor, 4, 5)], 0)
    assert out.numpy().tolist() == [1, 2, 3, 4, 5]


def test_entries_of_an_array_may_be_null_where_the_schema_allows_it(vendor: Vendor) -> None:
    a = _tensor(vendor, 1)
    assert vendor.op.Index(a, [None, a, None]).numpy().tolist() == [0, 1, 0]
    with pytest.raises(ArgumentError, match=r"tensors\[1\]: got None"):
        vendor.op.Cat(vendor.empty((1,)), [a, None], 0)


def test_an_input_may_be_handed_back(vendor: Vendor) -> None:
    a = _tensor(vendor, 1, 2)
    assert vendor.op.Index(a, []) is a


def test_success_without_a_result_is_the_vendors_defect(vendor: Vendor) -> None:
    a = _tensor(vendor, 1)
    with pytest.raises(OperatorError, match=r"returned success but stored no tensor for out"):
        vendor.op.MaskedSelect(a, a)


def test_sizes_arrive_in_order(vendor: Vendor) -> None:
    out = vendor.empty((3,))
    vendor.op.Permute(out, out, (2, 0, 1))
    assert out.numpy().tolist() == [2, 0, 1]
    vendor.op.Permute(out, out, np.array([0, 1, 2]))
    assert out.numpy().tolist() == [0, 1, 2]


def test_exceptions_of_the_vendor_become_errors(vendor: Vendor) -> None:
    tensor = vendor.empty((1,))
    with pytest.raises(OperatorError, match=r"\[diopiRelu\] the rectifier is broken") as caught:
        vendor.op.Relu(tensor, tensor)
    assert caught.value.code == 1
    assert caught.value.operator == "diopiRelu"
    assert caught.value.vendor == "fixture"
    assert "diopiErrorOccurred" in str(caught.value)


def test_codes_and_reasons_are_the_vendors_own(vendor: Vendor) -> None:
    tensor = vendor.empty((1,))
    with pytest.raises(OperatorError, match="diopiDtypeNotSupported") as caught:
        vendor.op.Softmax(tensor, tensor, 7)
    assert caught.value.code == 1000
    assert caught.value.reason == "no softmax along 7"


def test_an_old_reason_is_not_reported_again(vendor: Vendor) -> None:
    tensor = vendor.empty((1,))
    with pytest.raises(OperatorError):
        vendor.op.Softmax(tensor, tensor, 7)
    with pytest.raises(OperatorError, match="no reason given"):
        vendor.op.Tanh(tensor, tensor)


def test_a_failure_of_the_host_is_the_cause(vendor: Vendor) -> None:
    tensor = vendor.empty((1,))
    with pytest.raises(OutOfMemoryError, match=r"\[diopiSigmoid\].*1073741825 bytes") as caught:
        vendor.op.Sigmoid(tensor, tensor)
    assert isinstance(caught.value.__cause__, OutOfMemoryError)


def test_operators_that_the_vendor_lacks_are_named(vendor: Vendor) -> None:
    tensor = vendor.empty((1,))
    with pytest.raises(
        OperatorNotBoundError, match=r"\[diopiExp\] vendor fixture does not"
    ) as caught:
        vendor.op.Exp(tensor, tensor)
    assert caught.value.code == 13


def test_operators_that_the_contract_lacks_are_named(vendor: Vendor) -> None:
    with pytest.raises(ArgumentError, match="no operator 'diopiNothing'"):
        vendor.call("diopiNothing")
    with pytest.raises(AttributeError, match="Nothing"):
        vendor.op.Nothing  # noqa: B018


def test_generators_move(vendor: Vendor) -> None:
    generator = Generator(seed=7, offset=3)
    tensor = vendor.empty((4,))
    vendor.op.UniformInp(tensor, 0.0, 1.0, generator)
    assert tensor.numpy().tolist() == [7003, 7004, 7005, 7006]
    assert (generator.seed, generator.offset) == (7, 7)


def test_a_generators_state_can_be_taken_and_put_back(vendor: Vendor) -> None:
    generator = Generator(seed=2**64 - 1, offset=2**63)
    vendor.op.NormalInp(vendor.empty((1,)), 0.0, 1.0, generator)
    assert (generator.seed, generator.offset) == (2**64 - 1, 2**63)


def test_the_device_of_the_tensors_is_the_device_of_the_call(vendor: Vendor) -> None:
    for device in (0, 1):
        tensor = vendor.empty((1,), device=device)
        vendor.op.Neg(tensor, tensor)
        assert tensor.numpy().tolist() == [device]


def test_the_host_runs_the_vendors_loops(vendor: Vendor) -> None:
    total = vendor.empty((1,))
    vendor.op.Sum(total, vendor.tensor(np.arange(1000, dtype=np.float32)), ())
    assert total.numpy().tolist() == [499500]


def test_the_vendors_log_goes_to_logging(build: Compile, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "diopi_proto.vendor"):
        load_vendor(build("vendor.cpp", '-DFIXTURE_NAME="talker"')).close()
    assert ("diopi_proto.vendor", logging.INFO, "hello from talker") in caplog.record_tuples


def test_a_bound_operator_describes_itself(vendor: Vendor) -> None:
    assert vendor.op.Add.arguments == ("out", "input", "other", "alpha")
    assert vendor.op.Nonzero.arguments == ("input",)
    assert vendor.op.Cat.arguments == ("out", "tensors", "dim")
    assert "diopiAdd(out, input, other, alpha)" in repr(vendor.op.Add)
    assert vendor.op.Add.__doc__


def test_properties_and_memory_are_reported(vendor: Vendor) -> None:
    properties = vendor.properties(1)
    assert properties.name == "fixture 1"
    assert properties.dtypes == {"float32", "bfloat16"}
    assert vendor.memory_info() == (1 << 30, 1 << 30)
    assert vendor.present
    assert vendor.version == "1.2.3"
    assert vendor.host_accessible
    assert vendor.synchronous
    assert vendor.accepts_any_host_pointer
    assert not vendor.is_reference
    with pytest.raises(ArgumentError, match="no device 5"):
        vendor.properties(5)
    with pytest.raises(ArgumentError, match="no device 5"):
        vendor.memory_info(5)
