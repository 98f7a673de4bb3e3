"""Journal of the outcomes of a run, so that an interrupted run can be resumed.

It is stored next to the report in ``FILE.partial``: one line of JSON that identifies the run, and
one line for each outcome. The file is removed when the report is written.
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
from .outcome import Outcome
from .report_file import ReportError
from .results import as_data
from .target import Target

FORMAT = 2


def run_of(target: Target) -> dict[str, Any]:
    """Return what a resumed run must share with the interrupted run: suite, library, options."""
    library = Path(target.library)
    # Outcomes of a library are invalid once it has been rebuilt.
    stamp = library.stat().st_mtime_ns if library.is_file() else 0
    return {"suite": __version__, "built": stamp, **target.as_dict()}


@dataclass(frozen=True)
class Plan:
    """The planned cases of a run.

    :ivar asked: the options that chose them, for messages.
    """

    names: Sequence[str]
    asked: str

    def as_dict(self) -> dict[str, Any]:
        digest = hashlib.blake2b("\n".join(sorted(self.names)).encode(), digest_size=16)
        return {"asked": self.asked, "count": len(self.names), "digest": digest.hexdigest()}


def partial_of(report: Path) -> Path:
    """Return the path of the journal, which is next to the report."""
    return report.with_name(f"{report.name}.partial")


def difference(found: Mapping[str, Any], run: Mapping[str, Any]) -> str:
    """Describe the first difference between two runs; "" if there is none."""
    for key in sorted(run):
        if key not in found or found[key] != run[key]:
            return f"{key} was {found.get(key)!r}, now it is {run[key]!r}"
    return ""


class Journal:
    """Context manager that records outcomes as they arrive.

    :param report: path of the report; None: record nothing.
    :param plan: the cases of the run.
    :param resume: continue the journal of an interrupted run.
    :ivar outcomes: outcomes of the interrupted run by name of case.
    :raises ReportError: there is no journal to continue, or it is of another run.
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
            self.outcomes = _read_outcomes(self._path, run)
        try:
            if resume:
                _truncate_partial_line(self._path)
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
        """Record an outcome as the worker reported it."""
        self._write(as_data(outcome))

    def remove(self) -> None:
        """Remove the journal once the report is written."""
        if self._path is not None:
            self._path.unlink()

    def _write(self, line: object) -> None:
        file = self._file
        if file is None:
            return
        try:
            file.write(json.dumps(line, allow_nan=False) + "\n")
            # Flush each line, so that a killed run loses nothing.
            file.flush()
        except OSError as error:
            # The run continues without a journal: its outcomes are still reported at the end.
            write_error(
                f"conformance: {self._path} cannot be written: {error.strerror}; "
                "the run continues, but cannot be resumed\n"
            )
            self._file = None
            with contextlib.suppress(OSError):
                file.close()


def _truncate_partial_line(path: Path) -> None:
    """Remove the incomplete last line that a killed run may have left."""
    with path.open("r+b") as file:
        file.truncate(file.read().rfind(b"\n") + 1)


def _read_outcomes(path: Path, run: dict[str, Any]) -> dict[str, Outcome]:
    try:
        lines = read_regular_text(path, DOCUMENT_BYTES).splitlines()
    except FileNotFoundError:
        raise ReportError(f"there is no run to resume: {path} does not exist") from None
    except (OSError, ValueError) as error:
        raise ReportError(f"{path} is not the journal of a run: {error}") from None
    found = [_parsed(line) for line in lines]
    if not found or found[0] is None or found[0].get("format") != FORMAT:
        raise ReportError(f"{path} is not the journal of a run; start a new run without --resume")
    planned, plan = found[0].get("plan"), run["plan"]
    differing = difference(found[0], {key: x for key, x in run.items() if key != "plan"})
    if differing or not isinstance(planned, dict):
        raise ReportError(
            f"{path} is of another run: {differing}; start a new run without --resume"
        )
    if planned.get("digest") != plan["digest"]:
        raise ReportError(
            f"{path} is of a run of other cases: {planned.get('asked')} selected "
            f"{planned.get('count')}, now {plan['asked']} selects {plan['count']}. Give --resume "
            "the options of that run, or name another file with --json; a new run without "
            f"--resume discards its {sum(x is not None for x in found[1:])} outcomes"
        )
    outcomes: dict[str, Outcome] = {}
    for line in found[1:]:
        if line is None:
            continue
        try:
            outcome = Outcome.from_dict(line)
        except TypeError as error:
            raise ReportError(f"{path} has a line that is not an outcome: {error}") from None
        outcomes[outcome.name] = outcome
    return outcomes


def _parsed(line: str) -> dict[str, Any] | None:
    """Parse a line of the journal; return None if it is incomplete."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
