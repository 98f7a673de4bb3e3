"""What a run takes from the report of an earlier one: what failed, or that all of it is done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diopi_proto.schema import load

from .catalog import cases_of
from .execute import Outcome
from .journal import difference, partial_of, run_of
from .report_file import ReportError, read_report
from .results import Results
from .target import Target


@dataclass(frozen=True)
class Earlier:
    """A report that was read.

    :ivar about: of the vendor, as the report has it.
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
        """The results as they were judged then, what is known of the vendor, and the seconds."""
        outcomes = list(self.outcomes)
        return Results(models_of=models_of(outcomes), outcomes=outcomes), self.about, self.seconds

    def merged(self, fresh: Results) -> Results:
        """With fresh outcomes in place of those of the same cases."""
        new = {outcome.name: outcome for outcome in fresh.outcomes}
        outcomes = [new.pop(old.name, old) for old in self.outcomes] + list(new.values())
        return Results(models_of=models_of(outcomes), outcomes=outcomes)

    def check_library(self, target: Target) -> None:
        """See that outcomes of a library are added to those of the same one, built anew perhaps.

        :raises ReportError: the report is of another one.
        """
        library = str(self.about.get("library", target.library))
        if Path(library).name != Path(target.library).name:
            raise ReportError(
                f"{self.path} is a report of {library}, and --rerun-failed adds to it; name that "
                f"library, or a report of {target.library} with --json"
            )
        then, now = bool(self.about.get("simulated")), bool(target.simulated)
        if then != now:
            device = "a simulated device" if then else "a device"
            way = "leave --simulate out" if now else "give --simulate too"
            raise ReportError(
                f"{self.path} is a report of {device}, and --rerun-failed adds to it: {way}"
            )


def read_earlier(path: Path) -> Earlier:
    """Read a report.

    :raises ReportError: it is none.
    """
    report = read_report(path)
    try:
        outcomes = [Outcome.from_dict(case) for case in report["cases"]]
    except TypeError as error:
        raise ReportError(f"{path} has a case that is no outcome: {error}") from None
    about = dict(report["vendor"])
    return Earlier(path, str(report.get("suite")), about, float(report["seconds"]), outcomes)


def finished(path: Path, target: Target, names: Sequence[str]) -> Earlier | None:
    """The report of a run that went to its end; None where there is a part of a run.

    :raises ReportError: there is neither, or the report is of another run.
    """
    partial = partial_of(path)
    if partial.exists():
        return None
    said = f"there is no run to resume: {partial} is not there"
    if not path.exists():
        raise ReportError(said)
    earlier = read_earlier(path)
    # Its name is that which the library itself gives.
    run = {key: x for key, x in run_of(target).items() if key != "name"}
    differing = difference({**earlier.about, "suite": earlier.suite}, run)
    then = {x.name for x in earlier.outcomes}
    if not differing and then != set(names):
        differing = f"it has {len(then)} cases, and these options choose {len(names)}"
    if differing:
        raise ReportError(
            f"{said}, and {path} is the report of another run, which is finished: {differing}; "
            "start anew without --resume"
        )
    return earlier


def models_of(outcomes: Iterable[Outcome]) -> dict[str, tuple[str, ...]]:
    """The models that make the call of a case, by its name, of all cases of the same operators."""
    operators = {x.operator for x in outcomes} & load().keys()
    return {case.name: case.models for operator in operators for case in cases_of(operator)}
