"""The reference documentation, docs/operators.md."""

from __future__ import annotations

from diopi_proto.generate.headers import CONVENTIONS, describe
from diopi_proto.generate.model import NOTICE, Schema, declaration
from diopi_proto.schema import Operator

ENTRIES = (
    "An entry names the header that declares the operator, its error class, and the dtypes of the "
    "tensors without a rule of their own, which have a common dtype. A parameter that the table of "
    "an entry does not mention is an input that may not be NULL. [schema/README.md]"
    "(../schema/README.md) defines the dtype rules in full.",
    "The error class determines the [tolerance](tolerance.md) of results: *exact* results have the "
    "same bits on every device, *rounding* is a fixed number of correctly rounded operations per "
    "element, *elementary* an elementary function per element with an error of a few units in the "
    "last place, *reduction* and *matmul* are sums, and *random* are draws, of which integers and "
    "uniform numbers are exact for a given state of the generator. Integer results are exact in "
    "every class.",
)
"""Paragraphs about the entries of the document."""


def reference(schema: Schema) -> str:
    """Return the document: one section per family, one entry per operator."""
    count = len(schema.operators)
    blocks = [
        f"<!-- {NOTICE} -->",
        "# Operators",
        f"{count} operators in {len(schema.families)} families.",
        "## Conventions",
        *CONVENTIONS,
        *ENTRIES,
        "## Families",
        "\n".join(
            f"- [{family}](#{family}) ({_count(schema, family)}): {summary}"
            for family, summary in schema.families.items()
        ),
    ]
    for family, summary in schema.families.items():
        blocks += [f"## {family}", summary]
        blocks += [entry(op) for op in schema.operators if op.family == family]
    return "\n\n".join(blocks) + "\n"


def _count(schema: Schema, family: str) -> int:
    return sum(op.family == family for op in schema.operators)


def entry(operator: Operator) -> str:
    """Return the entry of an operator, which begins with its name as a heading."""
    facts = [f"`{operator.header}`", operator.op_class, f"dtypes: {operator.dtypes}"]
    if operator.in_place_of:
        facts.append(f"in-place form of {operator.in_place_of}")
    if operator.gradient_of:
        facts.append(f"gradient of {operator.gradient_of}")
    lines = [
        f"### {operator.name}",
        "",
        f"```c\n{declaration(operator)};\n```",
        "",
        operator.doc,
        "",
        " · ".join(facts),
    ]
    rows = []
    for parameter in operator.params[1:]:
        clauses = describe(parameter, operator.dtypes)
        if parameter.direction != "in" or clauses:
            rows.append(f"| `{parameter.name}` | {parameter.direction} | {_cell(clauses)} |")
    if rows:
        lines += ["", "| parameter | direction | |", "| --- | --- | --- |", *rows]
    return "\n".join(lines)


def _cell(clauses: list[str]) -> str:
    return "; ".join(clauses).replace("|", "\\|")
