"""Core's table, its wrappers and its plans carry the families of the contract."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from diopi_proto.schema import load

CORE = Path(__file__).parents[2] / "packages" / "core"
TABLE = CORE / "codegen" / "table"
FAMILIES = sorted(path.stem for path in TABLE.glob("*.yaml"))
# Headers of plans that several families share.
SHARED = {"plan", "checks", "normalization", "upsample"}


@pytest.mark.parametrize("family", FAMILIES)
def test_entries_are_in_the_file_of_their_family(family: str) -> None:
    operators = load()
    for row in yaml.safe_load((TABLE / f"{family}.yaml").read_text()):
        (name,) = row["call"]
        assert operators[name].family == family, f"{row['op']} calls {name}"


def test_wrappers_have_the_names_of_the_tables() -> None:
    folder = CORE / "csrc" / "aten" / "wrappers"
    assert sorted(path.name.removesuffix(".gen.cpp") for path in folder.iterdir()) == FAMILIES


def test_plans_have_the_names_of_families() -> None:
    known = {operator.family for operator in load().values()} | SHARED
    folder = CORE / "csrc" / "aten" / "plans"
    assert not {path.stem for path in folder.iterdir()} - known
