"""Operands of mixed dtypes are promoted as in torch, in every case."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from diopi_proto.promotion import promotion
from diopi_proto.schema import expand_dtypes, load
from dl_conformance.case import Case, T
from dl_conformance.catalog import cases_of
from dl_conformance.execution import CaseInputs
from dl_conformance.inputs import stored
from dl_conformance.judging import compare_tensor
from dl_conformance.mixed import mixed_cases
from dl_conformance.reference import as_expected

Inputs = dict[str, Any]
MIXED = [x.name for x in load().values() if next(mixed_cases(x), None) is not None]
FLOATING = [n for n in load() if (rule := promotion(n)) is not None and rule.floating]


@pytest.mark.parametrize("name", FLOATING)
def test_functions_of_floats_have_cases_of_every_dtype(name: str) -> None:
    (operand,) = promotion(name).operands  # type: ignore[union-attr]
    tested = {case.dtypes[operand] for case in cases_of(name)}
    assert tested >= set(expand_dtypes(load()[name].dtypes))


def test_every_operator_that_promotes_has_cases() -> None:
    promoting = {n for n in load() if promotion(n) is not None}
    assert {*MIXED, *FLOATING} == promoting
    assert 2000 < sum(len(list(mixed_cases(load()[n]))) for n in MIXED) < 5000


def mode(a: Inputs) -> str | None:
    """Return torch's name of a rounding mode of division."""
    name = str(a["rounding_mode"]).removeprefix("RoundMode").lower()
    return None if name == "none" else name


def functions() -> dict[str, Callable[[Inputs], Any]]:
    torch = pytest.importorskip("torch")

    def two(function: Callable[..., Any], right: str = "other") -> Callable[[Inputs], Any]:
        return lambda a: function(a["input"], a[right])

    simple = {
        "Mul": torch.mul,
        "Maximum": torch.maximum,
        "Minimum": torch.minimum,
        "BitwiseAnd": torch.bitwise_and,
        "BitwiseOr": torch.bitwise_or,
        "Eq": torch.eq,
        "Ne": torch.ne,
        "Lt": torch.lt,
        "Le": torch.le,
        "Gt": torch.gt,
        "Ge": torch.ge,
        "LogicalAnd": torch.logical_and,
        "LogicalOr": torch.logical_or,
        "RemainderTensor": torch.remainder,
        "Remainder": torch.remainder,
    }
    return {
        **{name: two(function) for name, function in simple.items()},
        "Add": lambda a: torch.add(a["input"], a["other"], alpha=a["alpha"]),
        "Sub": lambda a: torch.sub(a["input"], a["other"], alpha=a["alpha"]),
        "Div": lambda a: torch.div(a["input"], a["other"], rounding_mode=mode(a)),
        "Pow": two(torch.pow, "exponent"),
        "PowTensor": two(torch.pow, "exponent"),
        "Clamp": lambda a: torch.clamp(a["input"], a["min"], a["max"]),
        "ClampMax": two(torch.clamp_max, "max"),
        "ClampMin": two(torch.clamp_min, "min"),
        "Where": lambda a: torch.where(a["condition"], a["input"], a["other"]),
    }


def function_of(name: str) -> Callable[[Inputs], Any]:
    """Return torch's functions by operator, including in-place and scalar variants."""
    operator = load()[name]
    short = (operator.in_place_of or name).removeprefix("diopi")
    table = functions()
    for candidate in (short, short.removesuffix("Scalar"), short.removesuffix("Tensor")):
        if candidate in table:
            return table[candidate]
    raise KeyError(name)


def as_torch(case: Case, inputs: CaseInputs, name: str) -> Any:
    torch = pytest.importorskip("torch")
    value = inputs.wide[name]
    if not isinstance(case.arguments[name], T):
        return value
    dense = np.asarray(value)
    kind = {"f": np.float64, "c": np.complex128}.get(dense.dtype.kind)
    dense = np.ascontiguousarray(dense.astype(kind) if kind else dense).reshape(dense.shape)
    return torch.from_numpy(dense).to(getattr(torch, case.dtypes[name]))


@pytest.mark.parametrize("name", MIXED)
def test_torch_gives_the_dtype_and_the_numbers(name: str) -> None:
    torch = pytest.importorskip("torch")
    function, operator = function_of(name), load()[name]
    rule = promotion(name)
    assert rule is not None
    out = rule.result
    wrong = []
    for case in mixed_cases(operator):
        if case.layout != "contiguous":
            continue
        inputs = CaseInputs(case)
        arguments = {n: as_torch(case, inputs, n) for n in inputs.wide}
        found = function(arguments)
        assert str(found.dtype) == f"torch.{'bool' if rule.kind == 'boolean' else result(case)}"
        dtype = case.dtypes[out]
        got = found.to(getattr(torch, dtype))
        stored_ = stored(got.float().numpy(), dtype) if dtype == "bfloat16" else got.numpy()
        want = as_expected(inputs.expected()[out])
        fault, _ = compare_tensor(operator, stored_, dtype, dtype, want)
        if fault:
            wrong.append(f"{case.name}: {fault}")
    assert not wrong, "\n".join(wrong)


def result(case: Case) -> str:
    """Return the dtype of a result before conversion to the dtype of an operand."""
    whole = "rounding_mode" not in case.arguments or mode(dict(case.arguments)) is not None
    integers = expand_dtypes("integer, bool")
    return case.dtype if whole or case.dtype not in integers else "float32"
