"""Outcomes of a run as they come, so that a run that was cut short can go on.

They stand beside the report in ``FILE.partial``: a line of JSON that says of what run they are, and
one for each outcome. The file goes when the report is written.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from diopi_proto.foreign_file import DOCUMENT_BYTES, read_regular_text
from diopi_proto.text import write_error

from ._version import __version__
from .execute import Outcome
from .report_file import ReportError
from .results import as_data
from .target import Target

FORMAT = 2


def run_of(target: Target) -> dict[str, Any]:
    """What a run that goes on has to agree in: the suite, the library and how it is called."""
    library = Path(target.library)
    # Of a library that was built anew, no outcome is known.
    stamp = library.stat().st_mtime_ns if library.is_file() else 0
    return {"suite": __version__, "built": stamp, **target.as_dict()}


@dataclass(frozen=True)
class Plan:
    """The cases of a run.

    :ivar asked: the options that chose them, for messages.
    """

    names: Sequence[str]
    asked: str

    def as_dict(self) -> dict[str, Any]:
        digest = hashlib.blake2b("\n".join(sorted(self.names)).encode(), digest_size=16)
        return {"asked": self.asked, "count": len(self.names), "digest": digest.hexdigest()}


def partial_of(report: Path) -> Path:
    """The file beside a report that holds the outcomes of a run that goes on."""
    return report.with_name(f"{report.name}.partial")


def difference(found: Mapping[str, Any], run: Mapping[str, Any]) -> str:
    """What of a run is another than it was; nothing if it is the same."""
    for key in sorted(run):
        if key not in found or found[key] != run[key]:
            return f"its {key} is {found.get(key)!r}, now it is {run[key]!r}"
    return ""


class Journal:
    """Keeps outcomes, as a context.

    :param report: the file that the report goes to; None: nothing is kept.
    :param plan: what has to run.
    :param resume: whether to go on with what an earlier run left.
    :ivar outcomes: of that run, by the names of cases.
    :raises ReportError: there is nothing to go on with, or it is of another run.
    """

    def __init__(self, report: Path | None, target: Target, plan: Plan, *, resume: bool) -> None:
        self.outcomes: dict[str, Outcome] = {}
        self._path: Path | None = None
        self._file: IO[str] | None = None
        if report is None:
            return
        self._path = partial_of(report)
        run = {"format": FORMAT, **run_of(target), "plan": plan.as_dict()}
        if resume:
            self.outcomes = _kept(self._path, run)
        try:
            if resume:
                _cut(self._path)
            self._file = self._path.open("a" if resume else "w", encoding="utf-8")
        except OSError as error:
            raise ReportError(f"{self._path} cannot be written: {error.strerror}") from error
        if not resume:
            self._write(run)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, outcome: Outcome) -> None:
        """Keep an outcome as the worker told it."""
        self._write(as_data(outcome))

    def remove(self) -> None:
        """Forget them: the report is written."""
        if self._path is not None:
            self._path.unlink()

    def _write(self, line: object) -> None:
        file = self._file
        if file is None:
            return
        try:
            file.write(json.dumps(line, allow_nan=False) + "\n")
            # What is killed has left all that it knew.
            file.flush()
        except OSError as error:
            # A run goes on where its outcomes cannot be kept: they are shown at its end.
            write_error(
                f"conformance: {self._path} cannot be written: {error.strerror}; the run goes on, "
                "and cannot be resumed\n"
            )
            self._file = None
            with contextlib.suppress(OSError):
                file.close()


def _cut(path: Path) -> None:
    """Take away the half line that a run which was killed may have left."""
    with path.open("r+b") as file:
        file.truncate(file.read().rfind(b"\n") + 1)


def _kept(path: Path, run: dict[str, Any]) -> dict[str, Outcome]:
    try:
        lines = read_regular_text(path, DOCUMENT_BYTES).splitlines()
    except FileNotFoundError:
        raise ReportError(f"there is no run to resume: {path} is not there") from None
    except (OSError, ValueError) as error:
        raise ReportError(f"{path} is not what a run left: {error}") from None
    found = [_parsed(line) for line in lines]
    if not found or found[0] is None or found[0].get("format") != FORMAT:
        raise ReportError(f"{path} is not what a run left; start anew without --resume")
    planned, plan = found[0].get("plan"), run["plan"]
    differing = difference(found[0], {key: x for key, x in run.items() if key != "plan"})
    if differing or not isinstance(planned, dict):
        raise ReportError(f"{path} is of another run: {differing}; start anew without --resume")
    if planned.get("digest") != plan["digest"]:
        raise ReportError(
            f"{path} is of a run of other cases: {planned.get('asked')} chose "
            f"{planned.get('count')}, now {plan['asked']} chooses {plan['count']}. Give --resume "
            "the options of that run, or name another file with --json; without --resume a run "
            f"starts anew and forgets its {sum(x is not None for x in found[1:])} outcomes"
        )
    outcomes: dict[str, Outcome] = {}
    for line in found[1:]:
        if line is None:
            continue
        try:
            outcome = Outcome.from_dict(line)
        except TypeError as error:
            raise ReportError(f"{path} has a line that is no outcome: {error}") from None
        outcomes[outcome.name] = outcome
    return outcomes


def _parsed(line: str) -> dict[str, Any] | None:
    """None for half a line."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
