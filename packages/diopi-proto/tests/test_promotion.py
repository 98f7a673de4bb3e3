"""PyTorch's type promotion, and the operands of an operator that take part in it."""

from __future__ import annotations

from itertools import product

import pytest

from diopi_proto.promotion import Promotion, category, promote_types, promotion, result_type
from diopi_proto.schema import expand_dtypes

EVERY = expand_dtypes("all")


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("diopiAdd", Promotion(("input", "other"), "out", "common")),
        ("diopiAddInp", Promotion(("input", "other"), "input", "converted")),
        ("diopiRemainder", Promotion(("input", "other"), "out", "common")),
        ("diopiExp", Promotion(("input",), "out", "common", floating=True)),
        ("diopiClamp", Promotion(("input", "min", "max"), "out", "converted")),
        ("diopiEqScalar", Promotion(("input", "other"), "out", "boolean")),
        ("diopiRelu", None),
        ("diopiSum", None),
    ],
)
def test_rules_of_the_schema(name: str, rule: Promotion | None) -> None:
    assert promotion(name) == rule


@pytest.mark.parametrize(
    ("a", "b", "want"),
    [
        ("bool", "uint8", "uint8"),
        ("uint8", "int8", "int16"),
        ("uint8", "int64", "int64"),
        ("int32", "int16", "int32"),
        ("uint16", "int32", None),
        ("uint16", "uint32", "uint32"),
        ("float16", "bfloat16", "float32"),
        ("int64", "float16", "float16"),
        ("float64", "complex64", "complex128"),
        ("float16", "complex64", "complex64"),
    ],
)
def test_dtypes_that_hold_the_numbers_of_both(a: str, b: str, want: str | None) -> None:
    assert promote_types(a, b) == promote_types(b, a) == want


def test_a_higher_rank_raises_the_category_only() -> None:
    assert result_type([("float16", 0), ("float64", 1)]) == "float16"
    assert result_type([("int8", 0), ("float64", 1), ("float32", 2)]) == "float64"
    assert result_type([("bool", 0), ("int64", 2)]) == "int64"
    assert result_type([("uint8", 0), ("float32", 2)]) == "float32"
    assert result_type([]) is None
    for dtype in EVERY:
        assert category(str(result_type([("bool", 0), (dtype, 1)]))) == category(dtype)


def test_result_types_are_those_of_torch() -> None:
    torch = pytest.importorskip("torch")

    def make_operand(dtype: str, rank: int) -> object:
        if rank == 2:
            return {"bool": True, "int64": 1, "float32": 1.5}[dtype]
        return torch.ones((2,) if rank == 0 else (), dtype=getattr(torch, dtype))

    numbers = [("bool", 2), ("int64", 2), ("float32", 2)]
    operands = [*product(EVERY, (0, 1)), *numbers]
    for one, other in product(operands, operands):
        if one[1] == other[1] == 2:
            continue
        want = str(torch.result_type(make_operand(*one), make_operand(*other))).removeprefix(
            "torch."
        )
        assert result_type([one, other]) == want, f"{one} and {other}"
