"""Parser of the table of mutations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

TABLE = Path(__file__).with_name("mutations.yaml")
HALVES = ("simulator", "emulation")
_KEYS = {"name", "file", "find", "put", "family", "case", "why", *HALVES}


class TableError(ValueError):
    """The table does not match the kernels, or is inconsistent; the message names the mutation."""


@dataclass(frozen=True)
class Expected:
    """Expected finding of one test half: the simulator or the emulation."""

    finding: str
    kernel: str = ""
    line: str = ""


@dataclass(frozen=True)
class Mutation:
    name: str
    file: str
    find: str
    put: str
    family: str
    case: str
    expected: Mapping[str, Expected]

    def apply(self, headers: Path, overlay: Path) -> None:
        """Write the mutated header to a folder that compilers search first.

        :raises TableError: the header does not contain the text exactly once.
        """
        path = Path("dl_kernels") / self.file
        source = headers / path
        if not source.is_file():
            raise TableError(
                f"{self.name}: the file {self.file} does not exist; update the mutation"
            )
        text = source.read_text(encoding="utf-8")
        pattern = r"\s+".join(re.escape(word) for word in self.find.split())
        found = list(re.finditer(pattern, text))
        if len(found) != 1:
            raise TableError(
                f"{self.name}: {self.file} contains this text {len(found)} times instead of once; "
                f"update the mutation: {self.find}"
            )
        (match,) = found
        # Keep the number of lines, so that findings refer to lines of the original header.
        lines = "\n" * match[0].count("\n")
        target = overlay / path
        target.parent.mkdir(parents=True, exist_ok=True)
        changed = text[: match.start()] + self.put + lines + text[match.end() :]
        target.write_text(changed, encoding="utf-8")


def read(path: Path = TABLE) -> list[Mutation]:
    """Return all mutations of the table.

    :raises TableError: an entry is incomplete, or a name is a duplicate.
    """
    entries = yaml.safe_load(path.read_text(encoding="utf-8"))
    mutations = [_mutation(entry) for entry in entries]
    names = [each.name for each in mutations]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise TableError(f"{twice[0]} is a duplicate")
    return mutations


def _mutation(entry: dict[str, Any]) -> Mutation:
    name = entry.get("name", "?")
    if unknown := sorted(set(entry) - _KEYS):
        raise TableError(
            f"{name}: {unknown[0]} is not a key; the keys are {', '.join(sorted(_KEYS))}"
        )
    expected = {half: Expected(**entry[half]) for half in HALVES if half in entry}
    if not expected or (len(expected) < len(HALVES)) != ("why" in entry):
        raise TableError(
            f"{name}: `why` is required if {' or '.join(HALVES)} is missing, else not allowed"
        )
    keys = ("file", "find", "put", "family", "case")
    if missing := [key for key in keys if key not in entry]:
        raise TableError(f"{name}: {missing[0]} is missing")
    return Mutation(name=name, expected=expected, **{key: str(entry[key]) for key in keys})
