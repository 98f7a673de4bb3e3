"""Core's table, wrappers, plans and composed forms are named after the contract's families."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any

import pytest
import yaml
from test_families import family_of_file

from diopi_proto.schema import load

CORE = Path(__file__).parents[2] / "packages" / "core"
TABLE = CORE / "codegen" / "table"
ATEN = CORE / "csrc" / "aten"
FAMILIES = sorted(path.stem for path in TABLE.glob("*.yaml"))
# Files that the plans of several families share, and plans of related operators that the contract
# splits into several families.
SHARED = {
    *("plan", "checks", "complex_scalar", "conditions", "elementwise", "output_plan"),
    "stored_scalar",
    *("normalization", "pointwise_loss", "pooling", "resample", "upsample"),
}

Rows = Mapping[str, list[dict[str, Any]]]


def rows() -> Rows:
    """Return the rows of the table, by family."""
    return {name: yaml.safe_load((TABLE / f"{name}.yaml").read_text()) for name in FAMILIES}


def plan_files() -> dict[str, str]:
    """Return the file that declares each plan function."""
    declared = re.compile(r"^(?:bool|Tensor) (\w+)\(", re.MULTILINE)
    return {
        name: path.stem
        for path in sorted((ATEN / "plans").glob("*.h"))
        for name in declared.findall(path.read_text())
    }


def composed_files() -> dict[str, str]:
    """Return the file that declares each named composed form."""
    declared = re.compile(r"^(?:struct|using) (\w+)", re.MULTILINE)
    return {
        name: path.stem
        for path in sorted((ATEN / "composed").glob("*/*.h"))
        for name in declared.findall(path.read_text())
    }


def named_by(table: Rows, key: str) -> dict[str, set[str]]:
    """Return the families whose rows use each plan or form under a key."""
    found = defaultdict(set)
    for family, entries in table.items():
        for row in entries:
            value = row.get(key, "fallback")
            found[value if isinstance(value, str) else next(iter(value))].add(family)
    found.pop("fallback", None)
    return found


def misplaced_plans(users: Mapping[str, Set[str]], files: Mapping[str, str]) -> list[str]:
    """Return the plans in wrong files. A plan is in the file of a family that uses it, or in a
    shared one."""
    wrong = []
    for name, families in sorted(users.items()):
        allowed = families | SHARED if len(families) > 1 else families
        if files.get(name) not in allowed:
            wrong.append(f"{name} serves {', '.join(sorted(families))}: {files.get(name)}")
    return wrong


@pytest.mark.parametrize("family", FAMILIES)
def test_entries_are_in_the_file_of_their_family(family: str) -> None:
    operators = load()
    for row in rows()[family]:
        (name,) = row["call"]
        assert operators[name].family == family, f"{row['op']} calls {name}"


def test_wrappers_have_the_names_of_the_tables() -> None:
    folder = ATEN / "wrappers"
    assert sorted(path.name.removesuffix(".gen.cpp") for path in folder.iterdir()) == FAMILIES


def test_plans_have_the_names_of_families() -> None:
    known = {operator.family for operator in load().values()} | SHARED
    assert not {path.stem for path in (ATEN / "plans").iterdir()} - known


def test_plans_are_in_the_file_of_a_family_that_they_serve() -> None:
    users = named_by(rows(), "plan")
    assert len(users) > 60
    assert misplaced_plans(users, plan_files()) == []


def test_what_a_row_turns_to_is_in_a_file_of_its_family() -> None:
    users, plans, forms = named_by(rows(), "otherwise"), plan_files(), composed_files()
    assert len(users) > 10
    composed = {name for name in users if name in forms}
    assert misplaced_plans({n: f for n, f in users.items() if n not in composed}, plans) == []
    for name in composed:
        assert {family_of_file(forms[name])} == users[name], f"{name} is in {forms[name]}.h"


def test_plan_in_another_file_is_noticed() -> None:
    users = named_by({"sort": [{"plan": {"sorted": []}}], "tril": [{"plan": "cut"}]}, "plan")
    assert misplaced_plans(users, {"sorted": "sort", "cut": "tril"}) == []
    assert misplaced_plans(users, {"sorted": "tril", "cut": "tril"}) == ["sorted serves sort: tril"]
    assert misplaced_plans(users, {"sorted": "sort", "cut": "plan"}) == ["cut serves tril: plan"]
    both = {"cut": {"sort", "tril"}}
    assert misplaced_plans(both, {"cut": "plan"}) == []
    assert misplaced_plans(both, {"cut": "gather"}) == ["cut serves sort, tril: gather"]
    assert misplaced_plans(both, {}) == ["cut serves sort, tril: None"]
