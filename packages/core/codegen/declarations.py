"""C++ declarations that the table uses: plan functions, conditions, composed forms.

They are read from the headers, their only source. clang-format formats the headers, so that a
declaration at namespace scope starts in the first column.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "csrc"
PLANS = SOURCES / "aten" / "plans"
COMPOSED = SOURCES / "aten" / "composed"
CONDITIONS = PLANS / "conditions.h"

_FUNCTION = re.compile(r"^(?:inline )?(bool|Tensor) (\w+)\(([^;{}]*?)\)(?:;| \{)", re.MULTILINE)
_STRUCT = re.compile(r"^struct (\w+) \{\n(.*?)^\};", re.MULTILINE | re.DOTALL)
_ALIAS = re.compile(r"^using (\w+) =", re.MULTILINE)
_ENUM = re.compile(r"^enum class (\w+) \{([^}]*)\};", re.MULTILINE)
_MEMBER = re.compile(r"^  ([\w:<>]+) ([\w, =]+);$", re.MULTILINE)


@dataclass(frozen=True)
class Parameter:
    """One parameter of a C++ function that the table calls."""

    type: str
    name: str


@dataclass(frozen=True)
class Function:
    """A plan function, a condition, or a function that composes a result from other operators."""

    name: str
    header: str
    parameters: tuple[Parameter, ...]
    values: str | None = None
    """Struct of the values that a plan function computes for the contract call."""
    variadic: bool = False


@dataclass
class Declarations:
    """All declarations that the table may use."""

    plans: dict[str, Function] = field(default_factory=dict)
    builders: dict[str, Function] = field(default_factory=dict)
    conditions: dict[str, Function] = field(default_factory=dict)
    forms: dict[str, str] = field(default_factory=dict)
    """Header of each composed form."""
    values: dict[str, dict[str, str]] = field(default_factory=dict)
    """Type of each member, for each struct of plan values."""
    enums: dict[str, tuple[str, ...]] = field(default_factory=dict)


def _parameters(text: str) -> tuple[Parameter, ...]:
    parts, depth, current = [], 0, ""
    for character in text:
        depth += (character in "<(") - (character in ">)")
        if character == "," and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += character
    found = []
    for part in (" ".join(p.split()) for p in [*parts, current] if p.strip()):
        match = re.fullmatch(r"(?:const )?(.+?)(?: |(?<=[&*]) ?)(\w+)", part)
        assert match is not None, f"cannot read the parameter {part!r}"
        found.append(Parameter(match[1].rstrip("&").strip(), match[2]))
    return tuple(found)


def _read(path: Path, result: Declarations) -> None:
    text = re.sub(r"//[^\n]*", "", path.read_text("utf-8"))
    header = path.relative_to(SOURCES).as_posix()
    for name, body in _STRUCT.findall(text):
        if COMPOSED not in path.parents and name.endswith("Values"):
            members: dict[str, str] = {}
            for kind, names in _MEMBER.findall(body):
                members.update({n.split("=")[0].strip(): kind for n in names.split(",")})
            result.values[name] = members
        elif COMPOSED in path.parents:
            result.forms[name] = header
    if COMPOSED in path.parents:
        result.forms.update(dict.fromkeys(_ALIAS.findall(text), header))
    for name, body in _ENUM.findall(text):
        result.enums[name] = tuple(word.strip() for word in body.split(","))
    for returned, name, text_of_parameters in _FUNCTION.findall(text):
        parameters = _parameters(text_of_parameters)
        if returned == "bool" and parameters and parameters[0].type == "OutputPlan":
            values, rest = None, parameters[1:]
            if rest and rest[0].type.endswith("Values"):
                values, rest = rest[0].type, rest[1:]
            result.plans[name] = Function(name, header, rest, values)
        elif returned == "Tensor" and path.parent == PLANS:
            result.builders[name] = Function(name, header, parameters)


def read_declarations(headers: Iterable[Path] | None = None) -> Declarations:
    """Read the headers of the plans and of the composed forms, and the conditions."""
    result = Declarations()
    found = [
        *sorted(PLANS.glob("*.h")),
        *sorted(COMPOSED.rglob("*.h")),
    ]
    for path in found if headers is None else headers:
        _read(path, result)
    text = re.sub(r"//[^\n]*", "", CONDITIONS.read_text("utf-8"))
    for _, name, parameters in _FUNCTION.findall(text):
        variadic = "..." in parameters
        kept = parameters.split(", const Others")[0] if variadic else parameters
        result.conditions[name] = Function(
            name, "aten/plans/conditions.h", _parameters(kept), variadic=variadic
        )
    return result
