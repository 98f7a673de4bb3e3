"""Hand-written code of core for a contract operator is in a file named after its family.

Composed operators that the contract does not have are in groups of their own: they have no family.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from test_families import PACKAGES, family_of_file, schema_families

CORE = PACKAGES / "core"
FOLDERS = [CORE / "csrc" / "aten" / name for name in ("composed", "fused", "tensors")]
REGISTERED = re.compile(r'\bDL_(?:COMPOSED|KERNEL|PROVIDED)\w*\(\s*((?:"[\w.]+",\s*)+)')
OPERATOR = re.compile(r"\b(?:diopi|dlop)[A-Z]\w+")


def served_operators() -> dict[str, set[str]]:
    """Return the families whose operators implement an ATen operator, in at least one of its
    overloads."""
    found: dict[str, set[str]] = {}
    for path in sorted((CORE / "codegen" / "table").glob("*.yaml")):
        for row in yaml.safe_load(path.read_text(encoding="utf-8")):
            found.setdefault(row["op"].partition(".")[0].rstrip("_"), set()).add(path.stem)
    return found


def misplaced_forms(folder: Path) -> list[str]:
    """Return a sentence for each wrong file name in a folder."""
    schema, served, wrong = schema_families(), served_operators(), []
    for path in sorted(folder.rglob("*.cpp")):
        family, text = family_of_file(path.stem), path.read_text(encoding="utf-8")
        for name in sorted(set(OPERATOR.findall(text)) & schema.keys()):
            if schema[name] != family:
                wrong.append(f"{path.name} calls {name}, which belongs to {schema[name]}")
        registered = " ".join(REGISTERED.findall(text))
        for name in sorted(set(re.findall(r'"(\w+)', registered))):
            families = served.get(name.rstrip("_"), {family})
            if family not in families:
                wrong.append(
                    f"{path.name} has a form of {name}, whose others are in "
                    f"table/{' or '.join(sorted(families))}.yaml"
                )
    return wrong


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_forms_of_an_operator_are_in_files_of_its_family(folder: Path) -> None:
    assert list(folder.rglob("*.cpp"))
    assert misplaced_forms(folder) == []


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("misc", "DL_CONTRACT_FUNCTION(x, diopiEqual);", "calls diopiEqual, which belongs to comp"),
        ("misc", 'DL_COMPOSED("clamp_.Tensor", f);', "has a form of clamp_, whose others are"),
        ("power", 'DL_KERNEL("clamp.Tensor", f);', "has a form of clamp, whose others are in"),
        ("power", 'DL_COMPOSED_OUT("hypot", "clamp.o", F);', "has a form of clamp, whose others"),
    ],
)
def test_form_in_another_file_is_noticed(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / f"{name}.cpp").write_text(text)
    (line,) = misplaced_forms(tmp_path)
    assert line.startswith(f"{name}.cpp {said}")


def test_forms_in_the_right_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "clamp.cpp").write_text('DL_COMPOSED("clamp_.Tensor", f);')
    (tmp_path / "comparison_whole.cpp").write_text("DL_CONTRACT_FUNCTION(x, diopiEqual);")
    (tmp_path / "misc.cpp").write_text('DL_COMPOSED("hypot", f); DL_COMPOSED("isin.Scalar", g);')
    assert misplaced_forms(tmp_path) == []
