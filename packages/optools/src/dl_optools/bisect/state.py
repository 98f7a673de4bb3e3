"""State of a bisection, in a file that is complete after every run."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from diopi_proto.foreign_file import DOCUMENT_BYTES, read_regular_json

FORMAT = 1


class StateError(ValueError):
    """The file is not the state of a bisection, or belongs to another program."""


@dataclass
class Run:
    """One run of the program.

    :ivar on_device: operators that did not fall back, as indices into the list of operators; None:
        the unchanged program.
    :ivar complaint: description of the failure; empty if the run was right.
    :ivar log: file of its output, next to the state.
    :ivar died_in: the operator in which the run died or hung, with its arguments; empty if it did
        not, or the operator is unknown.
    """

    on_device: list[int] | None
    status: int
    complaint: str
    metric: float | None
    seconds: float
    log: str
    died_in: str = ""


@dataclass
class State:
    """State of a search; see :mod:`.bisect.state`.

    :ivar operators: operators that the program uses, in the order of their first calls.
    :ivar verdict: groups of guilty operators, empty if none is to blame; None while the search is
        running.
    """

    command: list[str]
    level: str
    device: str | None
    criteria: dict[str, Any]
    directory: str
    operators: list[str] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    verdict: list[list[str]] | None = None

    def find(self, on_device: Sequence[int] | None) -> Run | None:
        """Return the run with these operators on the device, or None."""
        wanted = None if on_device is None else sorted(on_device)
        return next((run for run in self.runs if run.on_device == wanted), None)

    def save(self, path: Path) -> None:
        """Replace the file atomically: after a kill it holds the old or the new state."""
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"format": FORMAT, **asdict(self)}, indent=1, allow_nan=True)
        temporary = path.with_name(path.name + ".new")
        with temporary.open("w", encoding="utf-8") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)

    @classmethod
    def load(cls, path: Path) -> State:
        """Read a file written by :meth:`save`.

        :raises StateError: the content is not a state.
        :raises OSError: the file cannot be read.
        """
        try:
            document = read_regular_json(path, DOCUMENT_BYTES)
        except ValueError as error:
            raise StateError(f"{path} is not the state of a bisection: {error}") from None
        if not isinstance(document, Mapping) or document.get("format") != FORMAT:
            raise StateError(f"{path} is not the state of a bisection of format {FORMAT}")
        try:
            fields = {name: value for name, value in document.items() if name != "format"}
            return cls(**{**fields, "runs": [Run(**run) for run in fields["runs"]]})
        except (KeyError, TypeError) as error:
            raise StateError(f"{path} is an incomplete state of a bisection: {error}") from None
