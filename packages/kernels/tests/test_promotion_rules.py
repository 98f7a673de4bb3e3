"""Rules of type promotion follow from the schema."""

from __future__ import annotations

import pytest

from dl_kernels import families
from dl_kernels.promotion import Promotion, promotion


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("diopiAdd", Promotion((1, 2), 0, "kCommon", False)),  # not alpha
        ("diopiAddInp", Promotion((0, 1), 0, "kConverted", False)),
        ("diopiMulScalar", Promotion((1, 2), 0, "kCommon", False)),
        ("diopiPowScalar", Promotion((1, 2), 0, "kCommon", False)),
        ("diopiExp", Promotion((1,), 0, "kCommon", True)),
        ("diopiWhere", Promotion((2, 3), 0, "kCommon", False)),  # not the condition
        ("diopiClamp", Promotion((1, 2, 3), 0, "kConverted", False)),
        ("diopiEqScalar", Promotion((1, 2), 0, "kBoolean", False)),
        ("diopiLtInp", Promotion((0, 1), 0, "kBoolean", False)),
    ],
)
def test_rules_of_the_schema(name: str, rule: Promotion) -> None:
    assert promotion(name) == rule


@pytest.mark.parametrize(
    "name", ["diopiRelu", "diopiTanhBackward", "diopiCastDtype", "diopiIndexFillInp", "diopiSum"]
)
def test_tensors_with_independent_dtypes_are_not_promoted(name: str) -> None:
    assert promotion(name) is None


def test_every_rule_names_existing_arguments() -> None:
    rules = [promotion(name) for operators in families().values() for name in operators]
    found = [rule for rule in rules if rule is not None]
    assert len(found) > 70
    for rule in found:
        assert rule.operands and rule.result not in rule.operands[1:]
