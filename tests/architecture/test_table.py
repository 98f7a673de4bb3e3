"""Errors in the table of core's wrappers are found, and reported with their location."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

CODEGEN = Path(__file__).parents[2] / "packages" / "core" / "codegen"
GOOD = {
    "op": "max_pool2d_with_indices_backward",
    "rule": "output",
    "plan": {
        "max_pool_backward": [
            *(2, "grad_output", "self", "kernel_size", "stride", "padding", "dilation"),
            *("ceil_mode", "indices"),
        ]
    },
    "call": {
        "diopiMaxPool2dBackward": [
            *("out", "grad_output", "self", "plan.kernel", "plan.stride", "plan.padding"),
            *("plan.dilation", "ceil_mode", "indices"),
        ]
    },
}


@pytest.fixture(scope="module")
def generate() -> Any:
    """Return the generator, which is not a package: it is stored next to its output."""
    sys.path.insert(0, str(CODEGEN))
    try:
        import generate

        yield generate
    finally:
        sys.path.remove(str(CODEGEN))


@pytest.fixture(scope="module")
def table(generate: Any) -> Any:
    return generate.Table(generate.read_declarations())


def mistakes(generate: Any, table: Any, folder: Path, *rows: object, file: str = "") -> list[str]:
    """Return the errors about a table of these entries."""
    (folder / (file or "max_pooling.yaml")).write_text(yaml.safe_dump(list(rows)))
    try:
        generate.wrappers(table, folder)
    except generate.TableError as errors:
        return str(errors).splitlines()
    return []


def test_a_right_entry_has_no_mistake(generate: Any, table: Any, tmp_path: Path) -> None:
    assert mistakes(generate, table, tmp_path, GOOD) == []


def changed(key: str, old: object, new: object) -> dict[str, Any]:
    """Return GOOD with one value of a call replaced."""
    ((name, values),) = GOOD[key].items()  # type: ignore[attr-defined]
    return {**GOOD, key: {name: [new if value == old else value for value in values]}}


@pytest.mark.parametrize(
    ("row", "key", "message"),
    [
        ({**GOOD, "op": "max_pool2d_with_indexes_backward"}, "op", "'max_pool2d_with_indices_back"),
        ({**GOOD, "rule": "outputs"}, "rule", "did you mean 'output'?"),
        ({**GOOD, "pln": {}}, "", "did you mean 'plan'?"),
        ({k: v for k, v in GOOD.items() if k != "plan"}, "plan", "needs a plan"),
        ({k: v for k, v in GOOD.items() if k != "call"}, "", "there is no 'call'"),
        ({**GOOD, "plan": {"max_pol_backward": []}}, "plan", "did you mean 'max_pool_backward'?"),
        ({**GOOD, "plan": {"max_pool_backward": [2]}}, "plan", "takes 9 values (spatial, grad_out"),
        ({**GOOD, "plan": "max_pool_backward"}, "plan", "is not a mapping from plan to a list"),
        ({**GOOD, "call": {"diopiMaxPool2dBackwards": []}}, "call", "'diopiMaxPool2dBackward'?"),
        ({**GOOD, "call": {"diopiMaxPool2dBackward": ["out"]}}, "call", "takes 9 values"),
        (changed("call", "plan.kernel", "plan.kernels"), "call", "did you mean 'plan.kernel'?"),
        (
            changed("call", "plan.kernel", "plan.list(0)"),
            "call",
            "value that the plan computes; did you mean 'plan.stride'?",
        ),
        (changed("call", "grad_output", "grad_outputs"), "call", "did you mean 'grad_output'?"),
        (changed("call", "ceil_mode", "!ceil_mode"), "call", "did you mean 'ceil_mode'?"),
        (
            changed("call", "ceil_mode", "stride"),
            "call",
            "stride is int[] and ceil_mode takes bool",
        ),
        (changed("call", "self", None), "call", "input cannot be null"),
        (changed("plan", "stride", "strid"), "plan", "did you mean 'stride'?"),
        ({**GOOD, "dtypes": "floating"}, "dtypes", "only elementwise rules take dtypes"),
        ({**GOOD, "before_plan": {"same_size": []}}, "before_plan", "did you mean 'same_sizes'?"),
        ({**GOOD, "after_plan": {"same_sizes": ["self"]}}, "after_plan", "takes 2 values"),
        ({**GOOD, "alternatives": {"diopiMatmul": []}}, "alternatives", "is not a list of calls"),
        ({**GOOD, "alternatives": [{"diopiMatmull": []}]}, "alternatives", "'diopiMatmul'?"),
        ({**GOOD, "otherwise": "fallbacks"}, "otherwise", "did you mean 'fallback'?"),
        ({**GOOD, "otherwise": {"resampled": []}}, "otherwise", "did you mean 'resample'?"),
        (
            {"op": "relu", "rule": "unary", "call": {"diopiRelu": ["out", "self"]}},
            "call",
            "move the entry to activation_piecewise.yaml",
        ),
        (
            {
                "op": "add.Tensor",
                "rule": "unary",
                "call": {"diopiAdd": ["out", "self", "other", 1]},
            },
            "call",
            "needs 1 operands; found self, other",
        ),
    ],
)
def test_a_mistake_is_named(
    generate: Any, table: Any, tmp_path: Path, row: dict[str, Any], key: str, message: str
) -> None:
    (found,) = mistakes(generate, table, tmp_path, row)
    assert found.startswith(f"max_pooling.yaml: {row['op']}: {key}")
    assert message in found


def test_all_mistakes_are_named_at_once(generate: Any, table: Any, tmp_path: Path) -> None:
    rows = ({**GOOD, "rule": "outputs"}, changed("call", "self", "slf"), GOOD)
    found = mistakes(generate, table, tmp_path, *rows)
    assert [line.split(": ")[2] for line in found] == ["rule", "op", "call"]
    assert "max_pooling.yaml already has an entry for it" in found[1]


def test_a_key_given_twice_is_named(generate: Any, table: Any, tmp_path: Path) -> None:
    (tmp_path / "power.yaml").write_text("- {op: sqrt, op: rsqrt, rule: unary, call: {}}\n")
    with pytest.raises(generate.TableError, match=r"power\.yaml: 'op' is given twice"):
        generate.wrappers(table, tmp_path)


def test_every_value_of_a_plan_is_read(table: Any) -> None:
    """The headers are parsed with patterns, which must not miss a struct."""
    declared = table.declarations
    assert declared.values["WindowValues"].keys() == {"kernel", "stride", "padding", "dilation"}
    assert declared.plans["max_pool"].values == "WindowValues"
    assert declared.plans["max_pool"].header == "aten/plans/max_pooling.h"
