"""The faults, read and checked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from diopi_proto.schema import load

TABLE = Path(__file__).with_name("faults.yaml")
PROGRAMS = Path(__file__).with_name("programs")
KINDS = frozenset(
    re.findall(r'kind == "([\w-]+)"', Path(__file__).with_name("spoil.hpp").read_text())
)


class TableError(ValueError):
    """A fault does not fit the contract, the programs or the vendor; the message names it."""


@dataclass(frozen=True)
class Fault:
    """One fault; the fields are explained in faults.yaml."""

    operator: str
    argument: int
    kind: str
    program: str
    names: str

    def __post_init__(self) -> None:
        contract = load()
        if self.function not in contract:
            raise TableError(f"{self}: the contract has no {self.function}")
        params = contract[self.function].params
        if not 0 < self.argument < len(params) or params[self.argument].direction == "in":
            raise TableError(f"{self}: parameter {self.argument} is no result")
        if self.kind not in KINDS:
            raise TableError(f"{self}: spoil.hpp has no such kind")
        if not (PROGRAMS / self.command[0]).is_file():
            raise TableError(f"{self}: there is no program {self.command[0]}")

    def __str__(self) -> str:
        return f"{self.operator}-{self.argument}-{self.kind}"

    @property
    def function(self) -> str:
        return f"diopi{self.operator}"

    @property
    def setting(self) -> str:
        """As the vendor reads it."""
        return f"{self.function},{self.argument},{self.kind}"

    @property
    def command(self) -> list[str]:
        """The program's file and its arguments."""
        name, *arguments = self.program.split()
        return [f"{name}.py", *arguments]

    def may_name(self, overload: str) -> bool:
        """Whether an operator such as ``aten.gelu.default`` computes by the spoilt one."""
        return re.fullmatch(rf"aten\.(?:{self.names})\.\w+", overload) is not None


def read(path: Path = TABLE) -> list[Fault]:
    """All faults of the table.

    :raises TableError: one does not fit, or is there twice.
    """
    faults = [Fault(**row) for row in yaml.safe_load(path.read_text(encoding="utf-8"))]
    names = [(str(each), each.program) for each in faults]
    if twice := [name for name in names if names.count(name) > 1]:
        raise TableError(f"{twice[0][0]}: it is there twice")
    return faults


def verdict(fault: Fault, named: Sequence[str]) -> str:
    """``named``, ``missed`` or ``false``: that another operator was named."""
    if any(not fault.may_name(name) for name in named):
        return "false"
    return "named" if named else "missed"
