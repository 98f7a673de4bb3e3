"""Parser of the table: one file for each family of the contract, one row for each entry.

Only the structure of a row is checked here; its names are resolved where they are used (model.py,
arguments.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from problems import EntryError, Mistake, at_key, unknown

TABLE = Path(__file__).with_name("table")
ELEMENTWISE = (
    *("unary", "unary_like", "unary_float"),
    *("binary", "binary_commuting", "binary_float", "binary_rounded"),
    *("comparison", "binary_scalar", "comparison_scalar", "ternary", "select"),
)
RULES = (*ELEMENTWISE, "output", "in_place")
# Names in the table for conditions on the common dtype of an elementwise operator.
DTYPES = {
    "floating": "c10::isFloatingType(plan.common_type())",
    "single_or_double": "plan.common_type() == at::kFloat || plan.common_type() == at::kDouble",
    "not_bool": "plan.common_type() != at::kBool",
}
KEYS = (
    *("op", "rule", "before_plan", "plan", "dtypes", "after_plan", "rounded"),
    *("call", "scalar", "alternatives", "otherwise"),
)
FALLBACK = "fallback"

# A value is a name, a literal, or a list of these.
Value = str | int | float | bool | None | list[Any]


@dataclass(frozen=True)
class Use:
    """A name and its arguments: ``{max_pool: [2, self, kernel_size]}``."""

    name: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Row:
    """One entry of the table."""

    op: str
    rule: str
    call: Use
    scalar: Use | None
    alternatives: tuple[Use, ...]
    plan: Use | None
    before_plan: tuple[Use, ...]
    after_plan: tuple[Use, ...]
    dtypes: str | None
    rounded: tuple[str, ...]
    """Scalars that torch converts to the common dtype before the computation."""
    otherwise: str | Use
    """A composed form, a function that builds the single result, or ``fallback``."""


class _Loader(yaml.SafeLoader):
    """A loader that rejects duplicate keys, which YAML's own loader ignores."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names = [self.construct_object(key) for key, _ in node.value]
        for name in names:
            if names.count(name) > 1:
                raise EntryError(f"{name!r} is given twice (line {node.start_mark.line + 1})")
        return super().construct_mapping(node, deep)


def _uses(value: object, what: str) -> tuple[Use, ...]:
    if not isinstance(value, Mapping) or not value:
        raise EntryError(
            f"{value!r} is not a mapping from {what} to a list, like {{{what}: [self]}}"
        )
    uses = []
    for name, values in value.items():
        if not isinstance(values, list):
            raise EntryError(
                f"the values of {name!r} are {values!r} and not a list, like [out, self]"
            )
        uses.append(Use(str(name), tuple(values)))
    return tuple(uses)


def _use(value: object, what: str) -> Use:
    uses = _uses(value, what)
    if len(uses) != 1:
        raise EntryError(f"{', '.join(use.name for use in uses)}: there can be only one {what}")
    return uses[0]


def _alternatives(value: object) -> tuple[Use, ...]:
    if not isinstance(value, list) or not value:
        raise EntryError(f"{value!r} is not a list of calls, like [{{diopiMatmul: [out, self]}}]")
    return tuple(_use(item, "operator") for item in value)


def parse_row(row: object) -> Row:
    """Check the structure of one entry.

    :raises EntryError: a key is unknown, missing, misplaced, or has the wrong structure.
    """
    if not isinstance(row, Mapping):
        raise EntryError(f"{row!r} is not an entry, like {{op: relu, rule: unary, …}}")
    for key in row:
        if key not in KEYS:
            raise unknown(key, "key of an entry", KEYS)
    for key in ("op", "rule", "call"):
        if key not in row:
            raise EntryError(f"there is no {key!r}")
    rule = row["rule"]
    if rule not in RULES:
        with at_key("rule"):
            raise unknown(rule, "rule", RULES)
    elementwise = rule in ELEMENTWISE
    if elementwise == ("plan" in row):
        need = "makes its own plan" if elementwise else "needs a plan"
        raise EntryError(f"an entry with the rule {rule!r} {need}", "plan")
    if "dtypes" in row:
        with at_key("dtypes"):
            if not elementwise:
                raise EntryError(f"only elementwise rules take dtypes; {rule!r} has a plan")
            if row["dtypes"] not in DTYPES:
                raise unknown(row["dtypes"], "rule of dtypes", DTYPES)
    rounded = row.get("rounded", [])
    with at_key("rounded"):
        if not isinstance(rounded, list) or not all(isinstance(name, str) for name in rounded):
            raise EntryError(f"{rounded!r} is not a list of arguments, like [other, alpha]")
        if rounded and not elementwise:
            raise EntryError(f"the rule {rule!r} has no common dtype")
    found: dict[str, Any] = {}
    for key, what in (("call", "operator"), ("scalar", "operator"), ("plan", "plan")):
        with at_key(key):
            found[key] = _use(row[key], what) if key in row else None
    for key in ("before_plan", "after_plan"):
        with at_key(key):
            found[key] = _uses(row[key], "condition") if key in row else ()
    with at_key("alternatives"):
        found["alternatives"] = _alternatives(row["alternatives"]) if "alternatives" in row else ()
    otherwise = row.get("otherwise", FALLBACK)
    if not isinstance(otherwise, str):
        with at_key("otherwise"):
            otherwise = _use(otherwise, "function")
    return Row(
        op=str(row["op"]),
        rule=rule,
        dtypes=row.get("dtypes"),
        rounded=tuple(rounded),
        otherwise=otherwise,
        **found,
    )


def read_rows(folder: Path, errors: list[Mistake]) -> Iterator[tuple[Path, Row]]:
    """Yield every entry with its file; invalid entries are appended to ``errors`` instead."""
    for path in sorted(folder.glob("*.yaml")):
        try:
            rows = yaml.load(path.read_text("utf-8"), _Loader)
        except (yaml.YAMLError, EntryError) as error:
            errors.append(Mistake(path.name, "", "", " ".join(str(error).split())))
            continue
        if not isinstance(rows, list):
            errors.append(Mistake(path.name, "", "", "this is not a list of entries"))
            continue
        for number, row in enumerate(rows, 1):
            try:
                yield path, parse_row(row)
            except EntryError as mistake:
                name = row.get("op") if isinstance(row, Mapping) else None
                place = str(name or f"entry {number}")
                errors.append(Mistake(path.name, place, mistake.key, str(mistake)))
