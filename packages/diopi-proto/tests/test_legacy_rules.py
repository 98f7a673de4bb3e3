"""Rules for the arguments of libraries in DIOPI's own style: their texts, and the schema's part."""

from __future__ import annotations

import pytest

from diopi_proto.legacy import rules_of
from diopi_proto.legacy.shapes import SHAPES
from diopi_proto.schema import load


def test_every_clause_is_valid_and_of_an_operator_of_the_contract() -> None:
    assert SHAPES.keys() <= load().keys()
    assert len(SHAPES) > 100
    for operator in load().values():
        rules_of(operator)


@pytest.mark.parametrize(
    ("clauses", "message"),
    [
        ("out = [n]", "diopiMm: 'out = \\[n\\]' is not a clause"),
        ("result [n]", "diopiMm has no parameter 'result'"),
        ("out reduces input over dim", "diopiMm has no parameter 'dim'"),
        ("ctx [n]", "diopiMm: ctx is a diopiContextHandle_t, which has no shape"),
    ],
)
def test_an_invalid_clause_is_named(clauses: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rules_of(load()["diopiMm"], clauses)


def test_the_schema_gives_required_tensors_and_dtypes() -> None:
    rules = [(r.kind, r.parameter, r.text) for r in rules_of(load()["diopiLinear"], "out [_]")]
    assert ("DL_LEGACY_REQUIRED", "weight", "required") in rules
    assert ("DL_LEGACY_REQUIRED", "bias", "required") not in rules
    assert ("DL_LEGACY_DTYPE", "weight", "that of input") in rules
    assert ("DL_LEGACY_DTYPE", "input", "float") in rules
    assert rules[-1] == ("DL_LEGACY_SHAPE", "out", "[_]")


def test_an_operator_without_clauses_gets_those_of_its_aliases() -> None:
    unlisted = load()["diopiErfinv"]
    assert unlisted.name not in SHAPES
    shapes = [r.parameter for r in rules_of(unlisted) if r.kind == "DL_LEGACY_SHAPE"]
    assert shapes == ["out", "input"]
