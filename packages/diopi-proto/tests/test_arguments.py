"""Invalid values: every error names the operator, the parameter, the value and what is expected."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diopi_proto import ArgumentError, Generator, Vendor, load_vendor
from diopi_proto.host import Scalar
from diopi_proto.host.cabi import ffi
from diopi_proto.host.frame import Frame
from diopi_proto.host.plan import plan_for
from diopi_proto.schema import load

_MISSING: Any = object()


@pytest.fixture
def refused(vendor: Vendor) -> Callable[..., str]:
    """``refused("diopiSoftmax", dim="x")`` -> the message about that one wrong argument."""

    def attempt(operator: str, **wrong: Any) -> str:
        plan = plan_for(operator)
        given: dict[str, Any] = {}
        for name in plan.arguments:
            parameter = plan.operator.parameter(name)
            if name in wrong:
                given[name] = wrong[name]
            elif parameter.is_tensor:
                given[name] = vendor.empty((2,))
            elif parameter.is_tensor_pointer:
                given[name] = [vendor.empty((2,))]
            else:
                given[name] = _plain(parameter.value_type, parameter.values)
        (name,) = wrong
        frame = Frame(vendor._instance, operator, None)
        with pytest.raises(ArgumentError) as caught:
            plan.prepare(frame, plan.bind((), given))
        assert caught.value.operator == operator
        assert caught.value.parameter.startswith(name)
        assert str(caught.value).startswith(f"[{operator}] {name}")
        return str(caught.value)

    return attempt


def _plain(kind: str, values: tuple[str, ...]) -> Any:
    if kind in ("float", "double") or "Scalar" in kind:
        return 1.0
    if kind in ("int", "int32_t", "int64_t"):
        return int(values[0]) if values else 1
    if kind == "const char*":
        return values[0] if values else "x"
    if "Generator" in kind:
        return Generator()
    return {
        "bool": False,
        "diopiSize_t": (1,),
        "diopiReduction_t": "mean",
        "diopiRoundMode_t": "floor",
        "diopiMemoryFormat_t": "Contiguous",
    }.get(kind)


def test_tensors_are_tensors(refused: Callable[..., str]) -> None:
    assert "got 3 (int), expected a tensor" in refused("diopiSoftmax", input=3)
    assert "(ndarray)" in refused("diopiSoftmax", input=np.zeros(2))
    assert "not optional" in refused("diopiSoftmax", input=None)


def test_tensors_of_another_instance_are_refused(
    refused: Callable[..., str], library: Path
) -> None:
    with load_vendor(library) as other:
        text = refused("diopiSoftmax", input=other.empty((2,)))
    assert "expected a tensor of this instance of fixture" in text


def test_tensors_of_another_device_are_refused(vendor: Vendor) -> None:
    here, there = vendor.empty((1,)), vendor.empty((1,), device=1)
    with pytest.raises(ArgumentError, match=r"input: got Tensor.*device 1.*on device 0 like"):
        vendor.op.Neg(here, there)
    with pytest.raises(ArgumentError, match="on device 0 like"):
        vendor.op.Neg(there, there, device=0)


def test_host_tensors_mix_with_any_device(vendor: Vendor) -> None:
    out = vendor.empty((2,), device=1)
    values = vendor.tensor(np.ones(2, np.float32), device=None)
    vendor.op.Add(out, values, values, 1)
    assert out.numpy().tolist() == [2, 2]


@pytest.mark.parametrize("value", [1.0, "1", True, np.bool_(True), 1 << 63, -(1 << 63) - 1])
def test_integers_are_integers_that_fit(refused: Callable[..., str], value: Any) -> None:
    assert "an integer of 64 bits" in refused("diopiSoftmax", dim=value)


def test_numbers_by_value_are_never_optional(refused: Callable[..., str]) -> None:
    assert "not optional" in refused("diopiSoftmax", dim=None)


@pytest.mark.parametrize("value", [1 << 31, -(1 << 31) - 1])
def test_int32_is_narrower(refused: Callable[..., str], value: int) -> None:
    assert "an integer of 32 bits" in refused("diopiFlashAttention", window_size_left=value)


def test_coded_integers_have_few_values(refused: Callable[..., str]) -> None:
    assert "one of 0, 1" in refused("diopiPsamaskMmcv", psa_type=2)


@pytest.mark.parametrize("value", [0, 1, "yes", None])
def test_bools_are_bools(refused: Callable[..., str], value: Any) -> None:
    assert "bool" in refused("diopiSort", descending=value)


@pytest.mark.parametrize("value", ["1", None, 1j, [1.0], 1 << 5000])
def test_floating_numbers_are_numbers(refused: Callable[..., str], value: Any) -> None:
    refused("diopiUniformInp", to=value)


def test_a_float_must_hold_the_number(refused: Callable[..., str], vendor: Vendor) -> None:
    kinds = {p.name: p.value_type for p in load()["diopiNormalize"].params}
    assert kinds["p"] == "float"
    assert "float32" in refused("diopiNormalize", p=1e39)
    converter = plan_for("diopiNormalize").converters["p"]
    assert converter(Frame(vendor._instance, "x", None), "p", float("inf")) == float("inf")


@pytest.mark.parametrize("value", ["1", 1j, None, [1], 1 << 63, np.zeros(2)])
def test_scalars_are_numbers(refused: Callable[..., str], value: Any) -> None:
    refused("diopiFill", value=value)


def test_scalars_may_choose_their_dtype(vendor: Vendor, refused: Callable[..., str]) -> None:
    frame = Frame(vendor._instance, "diopiFill", None)
    convert = plan_for("diopiFill").converters["value"]
    for value, stype, member, content in [
        (Scalar(3, "int32"), 4, "ival", 3),
        (Scalar(3, "float32"), 9, "fval", 3.0),
        (Scalar(0.5, "float16"), 8, "fval", 0.5),
        (Scalar(2**64 - 2, "uint64"), 7, "ival", -2),
        (Scalar(2**63 - 1, "uint64"), 7, "ival", 2**63 - 1),
        (True, 11, "ival", 1),
        (7, 6, "ival", 7),
        (7.0, 10, "fval", 7.0),
    ]:
        passed = convert(frame, "value", value)
        assert passed.stype == stype
        assert getattr(passed, member) == content
    refused("diopiFill", value=Scalar(0.5, "int64"))
    refused("diopiFill", value=Scalar(2**64, "uint64"))
    refused("diopiFill", value=Scalar(2**63, "int64"))
    assert "float8" in refused("diopiFill", value=Scalar(1, "float8"))
    refused("diopiFill", value=Scalar(1, "complex64"))


@pytest.mark.parametrize("value", [3, "ab", b"ab", {1: 2}, [1.5], [None], [True], [1 << 63], None])
def test_sizes_are_sequences_of_integers(refused: Callable[..., str], value: Any) -> None:
    refused("diopiPermute", dims=value)


def test_an_absent_size_is_null_and_an_empty_one_is_not(vendor: Vendor) -> None:
    frame = Frame(vendor._instance, "diopiNorm", None)
    convert = plan_for("diopiNorm").converters["dim"]
    absent, empty = convert(frame, "dim", None), convert(frame, "dim", ())
    assert (absent.data, absent.len) == (ffi.NULL, 0)
    assert empty.data != ffi.NULL
    assert empty.len == 0


@pytest.mark.parametrize("value", ["average", 9, 3, None, "ReductionEND"])
def test_enumerators_are_known(refused: Callable[..., str], value: Any) -> None:
    text = refused("diopiMSELoss", reduction=value)
    assert "diopiReduction_t" in text


def test_enumerators_have_long_and_short_names(vendor: Vendor) -> None:
    frame = Frame(vendor._instance, "x", None)
    convert = plan_for("diopiMSELoss").converters["reduction"]
    assert [convert(frame, "r", v) for v in ("mean", "ReductionMean", 1)] == [1, 1, 1]
    convert = plan_for("diopiDiv").converters["rounding_mode"]
    assert [convert(frame, "r", v) for v in ("none", "trunc", "floor")] == [0, 1, 2]


def test_strings_are_the_schemas(refused: Callable[..., str]) -> None:
    values = load()["diopiGelu"].parameter("approximate").values
    assert values
    text = refused("diopiGelu", approximate="roughly")
    assert all(repr(value) in text for value in values)
    refused("diopiGelu", approximate=None)


def test_arrays_are_sequences_of_tensors(refused: Callable[..., str], vendor: Vendor) -> None:
    refused("diopiCat", tensors=vendor.empty((1,)))
    refused("diopiCat", tensors=None)
    refused("diopiCat", tensors="ab")
    assert "tensors[1]" in refused("diopiCat", tensors=[vendor.empty((1,)), 5])


def test_arrays_with_one_count_are_equally_long(vendor: Vendor) -> None:
    a = vendor.empty((1,))
    plan = plan_for("diopiForeachaddScalar")
    given = {"outs": [a, a], "inputs": [a], "other": 1}
    with pytest.raises(ArgumentError, match=r"different lengths: outs has 2, inputs has 1"):
        plan.prepare(Frame(vendor._instance, plan.operator.name, None), plan.bind((), given))


@pytest.mark.parametrize("value", [None, 5, "seed"])
def test_generators_are_generators(refused: Callable[..., str], value: Any) -> None:
    refused("diopiUniformInp", generator=value)


def test_the_number_of_arguments_is_checked(vendor: Vendor) -> None:
    a = vendor.empty((1,))
    for call, complaint in [
        (lambda: vendor.op.Neg(a), "input missing"),
        (lambda: vendor.op.Neg(a, a, a), "got 3 by position"),
        (lambda: vendor.op.Neg(a, a, out=a), "out twice"),
        (lambda: vendor.op.Neg(a, a, value=1), "no parameter value"),
        (lambda: vendor.op.Cat(a, [a], 0, num_inputs=1), "no parameter num_inputs"),
        (lambda: vendor.op.Nonzero(a, out=a), "no parameter out"),
    ]:
        with pytest.raises(ArgumentError, match=complaint) as caught:
            call()
        assert str(caught.value).startswith("[diopi")


def test_an_optional_result_can_be_declined_but_not_given(vendor: Vendor) -> None:
    plan = plan_for("diopiUnique")
    assert "counts" in plan.optional
    assert "counts" not in plan.arguments
    a = vendor.empty((1,))
    given = {"input": a, "dim": None, "sorted": True, "return_counts": False, "indices": None}
    frame = Frame(vendor._instance, "diopiUnique", None)
    passed, results = plan.prepare(frame, plan.bind((), {**given, "counts": None}))
    assert passed[-1] == ffi.NULL
    assert len(results) == 2
    assert results[-1](None) is None  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="a result cannot be passed"):
        plan.prepare(frame, plan.bind((), {**given, "counts": a}))


def test_nothing_is_called_when_an_argument_is_wrong(vendor: Vendor) -> None:
    tensor = vendor.tensor(np.zeros(2, np.float32))
    with pytest.raises(ArgumentError):
        vendor.op.Fill(tensor, "5")
    assert tensor.numpy().tolist() == [0, 0]


def test_long_values_are_shortened(refused: Callable[..., str]) -> None:
    assert len(refused("diopiSoftmax", dim=list(range(100000)))) < 300


@pytest.mark.parametrize("name", list(load()))
def test_every_operator_has_a_plan(name: str) -> None:
    plan = plan_for(name)
    operator = plan.operator
    vendors = {p.name for p in operator.params if p.allocated_by == "vendor"}
    numbers = {
        p.name
        for p in operator.params
        if p.direction == "out" and p.type in ("bool*", "double*", "int64_t*")
    }
    every = {p.name for p in operator.params[1:]}
    assert set(plan.arguments) | set(plan.counts) | vendors | numbers == every
    assert len(plan.function_type.args) == len(operator.params)
