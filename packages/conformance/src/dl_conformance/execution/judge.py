"""Comparison of the results of a call with the reference."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from diopi_proto import Tensor
from dl_conformance.adapted import judged_in
from dl_conformance.case import Case
from dl_conformance.fault import Fault, wrong_value
from dl_conformance.judging import check_strides, compare_scalar, compare_tensor
from dl_conformance.reference import Expected, Unspecified, as_expected
from dl_conformance.tensor_file import Stored

from .call import Call
from .inputs import CaseInputs


@dataclass
class Verdict:
    """Result of a comparison.

    :ivar worst: error of the worst element in units of its bound.
    :ivar checked: number of compared elements; 0 if all outputs were right before the call.
    """

    faults: list[Fault] = field(default_factory=list)
    worst: float = 0.0
    checked: int = 0


def judge_call(call: Call, expected: Mapping[str, Any], results: Mapping[str, Any]) -> Verdict:
    """Compare all outputs of a call, and check that its inputs are unchanged."""
    verdict, unchanged, total = Verdict(), True, 0
    for name, value in expected.items():
        got, several = results.get(name), isinstance(value, list)
        if several and len(got or ()) != len(value):
            message = f"{name}: got {len(got or ())} tensors, want {len(value)}"
            verdict.faults.append(wrong_value(message))
            continue
        pairs = list(zip(got or (), value, strict=True)) if several else [(got, value)]
        for at, (tensor, one) in enumerate(pairs):
            if isinstance(one, Unspecified) or one is None:
                continue
            want = as_expected(one)
            fault, ratio = _compare(call, name, tensor, want)
            size = np.asarray(want.value).size
            # A host scalar is 0 before the call.
            trivial = not isinstance(tensor, Tensor) and size == 1 and not want.value
            total += 0 if trivial else size
            if fault is not None:
                verdict.faults.append(fault.of(f"{name}[{at}]" if several else name))
            if not math.isnan(ratio):
                verdict.worst = max(verdict.worst, ratio)
            original = call.inputs.wide.get(name)
            if several and original is not None:
                original = original[at]
            unchanged = unchanged and _is_result_already(original, want)
    verdict.faults += call.modified_inputs()
    verdict.checked = 0 if unchanged else total
    return verdict


def judge(case: Case, got: Mapping[str, Any]) -> tuple[list[Fault], float]:
    """Compare results that no vendor computed; see :func:`judge_results`."""
    inputs = CaseInputs(case)
    return judge_results(inputs, inputs.expected(), got)


def judge_results(
    inputs: CaseInputs, expected: Mapping[str, Any], got: Mapping[str, Any]
) -> tuple[list[Fault], float]:
    """Compare stored results, and return their faults and the error of the worst element.

    :param got: by output: :class:`Stored`, a list of them, or a scalar. Outputs without a result
        are ignored.
    """
    faults, worst = [], math.nan
    for name, value in expected.items():
        if name not in got:
            continue
        several = isinstance(value, list)
        pairs = zip(got[name], value, strict=True) if several else [(got[name], value)]
        for given, one in pairs:
            if one is None or isinstance(one, Unspecified):
                continue
            want = as_expected(one)
            if isinstance(given, Stored):
                dtype = want.dtype or inputs.dtype_of(name)
                fault, ratio = compare_tensor(
                    inputs.operator, given.elements, given.dtype, dtype, want
                )
            else:
                fault, ratio = compare_scalar(inputs.operator, given, want)
            if fault is not None:
                faults.append(fault.of(name))
            worst = float(np.fmax(worst, ratio))
    return faults, worst


def _is_result_already(original: Any, want: Expected) -> bool:
    """Return True if a parameter that is written in place was right before the call."""
    value = np.asarray(want.value)
    if value.size == 0:
        return True
    if original is None or not hasattr(original, "shape"):
        return False
    return bool(
        original.shape == value.shape
        and np.array_equal(original, value, equal_nan=original.dtype.kind in "fc")
    )


def _compare(call: Call, name: str, got: Any, want: Expected) -> tuple[Fault | None, float]:
    """Compare one output, and return its fault and the error of its worst element."""
    inputs = call.inputs
    dtype = want.dtype or inputs.dtype_of(name) if name in call.case.dtypes else ""
    if got is None:
        return wrong_value("nothing was returned"), math.inf
    if not isinstance(got, Tensor):
        return compare_scalar(call.operator, got, want)
    elements, given = got.numpy(), got.dtype.name
    if given == dtype:
        elements, given = judged_in(inputs.adaptor, call.operator, name, elements, dtype)
        dtype = given
    fault, ratio = compare_tensor(call.operator, elements, given, dtype, want)
    if fault is None and call.operator.parameter(name).allocated_by == "vendor":
        fault = check_strides(got.strides, got.shape, call.expected_strides())
    return fault, ratio
