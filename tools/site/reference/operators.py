"""Pages of the contract's operators, one for each family, from the schema and core's table."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from diopi_proto.generate.headers import CONVENTIONS
from diopi_proto.generate.model import Schema
from diopi_proto.generate.read import read_schema
from diopi_proto.generate.reference import ENTRIES, entry
from tools.site.table import ROOT

FOLDER = "reference/operators"
PACKAGE = ROOT / "packages" / "diopi-proto"
_CALLS = ROOT / "packages" / "core" / "src" / "dl_core" / "contract_calls_gen.json"
_LINKS = {
    "[schema/README.md]": "[The schema]",
    "(../schema/README.md)": "(../operator-schema.md)",
    "(tolerance.md)": "(../tolerance-bounds.md)",
}


class Operators:
    """One page for each family, and a list of all operators."""

    def nav(self) -> list[Any]:
        """Return the list; it and the search lead to the families, which are too many here."""
        return [f"{FOLDER}/index.md"]

    def pages(self) -> Iterator[tuple[str, str]]:
        """Yield the list and the pages."""
        schema = _schema()
        aten = callers()
        yield f"{FOLDER}/index.md", _index(schema)
        for family, summary in schema.families.items():
            blocks = [f"# {family}", summary, _files(family)]
            for operator in schema.operators:
                if operator.family == family:
                    blocks.append(entry(operator).replace("### ", "## ", 1))
                    if found := aten.get(operator.name):
                        names = ", ".join(f"`{name}`" for name in found)
                        blocks.append(f"ATen operators of core's table: {names}")
            yield f"{FOLDER}/{family}.md", "\n\n".join(blocks) + "\n"


def callers() -> Mapping[str, list[str]]:
    """Return the ATen operators, in all forms, whose row in core's table calls an operator."""
    found: dict[str, list[str]] = {}
    for row in json.loads(_CALLS.read_text("utf-8")):
        calls = [row["call"], row["scalar"], *row["alternatives"]]
        for name in dict.fromkeys(call[0] for call in calls if call):
            found.setdefault(name, []).extend(row["forms"])
    return {name: list(dict.fromkeys(forms)) for name, forms in found.items()}


@cache
def _schema() -> Schema:
    return read_schema(PACKAGE / "schema")


def _index(schema: Schema) -> str:
    names: dict[str, list[str]] = {family: [] for family in schema.families}
    for operator in schema.operators:
        link = f"[{operator.name}]({operator.family}.md#{operator.name.lower()})"
        names[operator.family].append(link)
    rows = [
        f"| [{family}]({family}.md) | {summary} | {', '.join(names[family])} |"
        for family, summary in schema.families.items()
    ]
    notes = "\n\n".join(ENTRIES)
    for old, new in _LINKS.items():
        notes = notes.replace(old, new)
    blocks = [
        "# Operators",
        f"The contract has {len(schema.operators)} operators in {len(schema.families)} families.",
        "## Conventions",
        *CONVENTIONS,
        notes,
        "## Families",
        "\n".join(["| family | subject | operators |", "| --- | --- | --- |", *rows]),
    ]
    return "\n\n".join(blocks) + "\n"


def _files(family: str) -> str:
    paths = (
        ("schema", f"packages/diopi-proto/schema/{family}.yaml"),
        ("kernels", f"packages/kernels/include/dl_kernels/ops/{family}.inc"),
        ("ATen operators", f"packages/core/codegen/table/{family}.yaml"),
        ("reference", f"packages/conformance/src/dl_conformance/references/{family}.py"),
    )
    found = [f"{title}: `{path}`" for title, path in paths if (ROOT / path).exists()]
    return f"Sources: {'; '.join(found)}."
