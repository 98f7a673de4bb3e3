"""Reports of earlier runs, for ``--rerun-failed`` and for ``--resume`` of a finished run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diopi_proto.schema import load

from .catalog import cases_of
from .journal import difference, partial_of, run_of
from .outcome import Outcome
from .report_file import ReportError, read_report
from .results import Results
from .target import Target


@dataclass(frozen=True)
class Earlier:
    """The report of an earlier run.

    :ivar about: description of the vendor in the report.
    """

    path: Path
    suite: str
    about: dict[str, Any]
    seconds: float
    outcomes: Sequence[Outcome]

    @property
    def failed(self) -> frozenset[str]:
        return frozenset(x.name for x in self.outcomes if x.status == "failed")

    def whole(self) -> tuple[Results, dict[str, Any], float]:
        """Return the results as reported, the description of the vendor, and the seconds."""
        outcomes = list(self.outcomes)
        return Results(models_of=models_of(outcomes), outcomes=outcomes), self.about, self.seconds

    def merged(self, fresh: Results) -> Results:
        """Return the results with fresh outcomes replacing earlier ones of the same cases."""
        new = {outcome.name: outcome for outcome in fresh.outcomes}
        outcomes = [new.pop(old.name, old) for old in self.outcomes] + list(new.values())
        return Results(models_of=models_of(outcomes), models=fresh.models, outcomes=outcomes)

    def check_library(self, target: Target) -> None:
        """Check that the report is of the same library, which may have been rebuilt since.

        :raises ReportError: the report is of another library.
        """
        library = str(self.about.get("library", target.library))
        if Path(library).name != Path(target.library).name:
            raise ReportError(
                f"--rerun-failed cannot update {self.path}: it is a report of {library}; test "
                f"that library, or name a report of {target.library} with --json"
            )
        then, now = bool(self.about.get("simulated")), bool(target.simulated)
        if then != now:
            device = "a simulated device" if then else "a real device"
            way = "omit --simulate" if now else "add --simulate"
            raise ReportError(
                f"--rerun-failed cannot update {self.path}: it is a report of {device}; {way}"
            )


def read_earlier(path: Path) -> Earlier:
    """Read a report.

    :raises ReportError: the file is not a report.
    """
    report = read_report(path)
    try:
        outcomes = [Outcome.from_dict(case) for case in report["cases"]]
    except TypeError as error:
        raise ReportError(f"{path} has a case that is not an outcome: {error}") from None
    about = dict(report["vendor"])
    return Earlier(path, str(report.get("suite")), about, float(report["seconds"]), outcomes)


def finished(path: Path, target: Target, names: Sequence[str]) -> Earlier | None:
    """Return the report of a finished run, or None if a partial run exists.

    :raises ReportError: neither exists, or the report is of another run.
    """
    partial = partial_of(path)
    if partial.exists():
        return None
    said = f"there is no run to resume: {partial} does not exist"
    if not path.exists():
        raise ReportError(said)
    earlier = read_earlier(path)
    # The report has the name that the library gives itself.
    run = {key: x for key, x in run_of(target).items() if key != "name"}
    differing = difference({**earlier.about, "suite": earlier.suite}, run)
    then = {x.name for x in earlier.outcomes}
    if not differing and then != set(names):
        differing = f"it has {len(then)} cases, but these options select {len(names)}"
    if differing:
        raise ReportError(
            f"{said}; {path} is the report of a different, finished run: {differing}; "
            "start a new run without --resume"
        )
    return earlier


def models_of(outcomes: Iterable[Outcome]) -> dict[str, tuple[str, ...]]:
    """Return the models of each case by its name, for all cases of the operators of outcomes."""
    operators = {x.operator for x in outcomes} & load().keys()
    return {case.name: case.models for operator in operators for case in cases_of(operator)}
