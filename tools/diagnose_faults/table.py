"""Parser of the table of faults."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from diopi_proto.schema import load

TABLE = Path(__file__).with_name("faults.yaml")
PROGRAMS = Path(__file__).with_name("programs")
_OVERLOAD = re.compile(r"aten\.\w+\.\w+")


def _cases(header: str, variable: str) -> frozenset[str]:
    """Return the values with which a header of the vendor compares a variable."""
    text = Path(__file__).with_name(header).read_text(encoding="utf-8")
    return frozenset(re.findall(rf'{variable} == "([\w-]+)"', text))


ACTIONS = _cases("spoil.hpp", "action")
CONDITIONS = _cases("conditions.hpp", "condition")


class TableError(ValueError):
    """A fault does not match the contract, the programs or the vendor; the message names it."""


@dataclass(frozen=True)
class Fault:
    """One fault; faults.yaml documents the fields."""

    operator: str
    argument: int
    action: str
    program: str
    names: str
    condition: str = "always"

    def __post_init__(self) -> None:
        contract = load()
        if self.function not in contract:
            raise TableError(f"{self}: the contract has no {self.function}")
        params = contract[self.function].params
        if not 0 < self.argument < len(params) or params[self.argument].direction == "in":
            raise TableError(f"{self}: parameter {self.argument} is not a result")
        if self.action not in ACTIONS:
            raise TableError(f"{self}: spoil.hpp has no such action")
        if self.condition not in CONDITIONS:
            raise TableError(f"{self}: conditions.hpp has no such condition")
        if not (PROGRAMS / self.command[0]).is_file():
            raise TableError(f"{self}: the program {self.command[0]} does not exist")

    def __str__(self) -> str:
        return f"{self.operator}-{self.argument}-{self.action}-{self.condition}"

    @property
    def function(self) -> str:
        """Return the name in the contract; operators that DIOPI does not have are prefixed with
        dlop."""
        own = f"dlop{self.operator}"
        return own if own in load() else f"diopi{self.operator}"

    @property
    def setting(self) -> str:
        """Return the fault in the vendor's syntax."""
        return f"{self.function},{self.argument},{self.action},{self.condition}"

    @property
    def command(self) -> list[str]:
        """Return the program's file and its arguments."""
        name, *arguments = self.program.split()
        return [f"{name}.py", *arguments]

    def may_name(self, overload: str) -> bool:
        """Return True if an operator such as ``aten.gelu.default`` calls the corrupted one."""
        return re.fullmatch(rf"aten\.(?:{self.names})\.\w+", overload) is not None


def read(path: Path = TABLE) -> list[Fault]:
    """Return all faults of the table.

    :raises TableError: a fault is invalid or a duplicate.
    """
    faults = [Fault(**row) for row in yaml.safe_load(path.read_text(encoding="utf-8"))]
    names = [(str(each), each.program) for each in faults]
    if twice := [name for name in names if names.count(name) > 1]:
        raise TableError(f"{twice[0][0]} is a duplicate")
    return faults


def verdict(fault: Fault, accused: Sequence[str], text: str) -> str:
    """Return the outcome of a diagnosis: ``named``, ``unchecked``, ``missed`` or ``false``.

    :param accused: reported operators; a wrong one makes the outcome ``false``.
    :param text: the verdict; without a reported operator it may say that this one was not checked.
    """
    if any(not fault.may_name(name) for name in accused):
        return "false"
    if accused:
        return "named"
    unchecked = re.split("not checked", text, maxsplit=1, flags=re.IGNORECASE)[1:]
    names = [name for part in unchecked for name in _OVERLOAD.findall(part)]
    return "unchecked" if any(map(fault.may_name, names)) else "missed"
