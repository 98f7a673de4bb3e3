"""Results of the matrix, as JSON and as the table of docs/reference/torch-releases.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tools.generated_part import END, begin, part_of
from tools.release.install import NAMES

from .doctor import Diagnosis
from .suites import MODELS, ON_TEST_VENDOR, OPINFO, VISION, Outcome, same_selection

BEGIN = begin("torch-matrix")
UNTIL_COUNTS = 5
"""Number of a line's first cells, which every run fills: up to the installation by name."""


@dataclass(frozen=True)
class Row:
    """One release with one Python.

    :ivar python: the version of Python, such as ``3.12``.
    :ivar torch: its version with the local part.
    :ivar core: the version of dl-core.
    :ivar digest: the SHA-256 digest of dl-core's wheel.
    :ivar refusals: problems with the rejection of other releases' dl-core.
    :ivar by_name: output of a training program after installation by name; None if that failed.
    :ivar by_name_problems: problems with that.
    :ivar torchvision: its version, None if no torchvision is compatible with this torch.
    :ivar outcomes: outcomes by suite name.
    """

    release: str
    python: str
    torch: str
    core: str
    digest: str
    diagnosis: Diagnosis
    refusals: Sequence[str]
    by_name: str | None
    by_name_problems: Sequence[str]
    torchvision: str | None
    outcomes: Mapping[str, Outcome]

    @property
    def name(self) -> str:
        return f"torch {self.release}, Python {self.python}"

    def problems(self) -> list[str]:
        """Return the problems that prevent support of this release; empty if it is supported."""
        found = [*self.diagnosis.problems, *self.refusals, *self.by_name_problems]
        if not self.diagnosis.vendors:
            found.append("no device is visible")
        for name, outcome in self.outcomes.items():
            if not outcome.right:
                wrong = outcome.failed or ["no test ran"]
                found.append(f"{name}: {len(outcome.failed)} failed, the first is {wrong[0]}")
        return [f"{self.name}: {problem}" for problem in found]

    def as_json(self) -> dict[str, object]:
        return {
            "torch": self.torch,
            "dl-core": self.core,
            "dl-core sha256": self.digest,
            "doctor": {
                "vendors": self.diagnosis.vendors,
                "problems": self.diagnosis.problems,
            },
            "refusal of other releases": list(self.refusals),
            "installed by name": self.by_name,
            "version of torchvision": self.torchvision,
            **{name: outcome.as_json() for name, outcome in self.outcomes.items()},
        }


def as_json(rows: Sequence[Row], wheels: Mapping[str, str]) -> dict[str, object]:
    """Return the whole report.

    :param wheels: SHA-256 digest of each wheel that is shared by all releases, by file name.
    """
    opinfo = [row.outcomes[OPINFO.name] for row in rows if OPINFO.name in row.outcomes]
    return {
        "wheels": dict(wheels),
        "releases": {row.name: row.as_json() for row in rows},
        "OpInfo tests that all releases ran": same_selection(opinfo),
    }


def section(rows: Sequence[Row], wheels: Mapping[str, str], page: str) -> str:
    """Return the table with its legend, between the lines that mark it as generated.

    :param page: the present page: its rows of other environments are kept, as are the counts of
        environments whose operators this run has not tested.
    """
    released = [name for name in wheels if not name.startswith("test/")]
    names = sorted(name.partition("-")[0].replace("_", "-") for name in released)
    shown = (f'"{name}"' if "[" in name else name for name in NAMES)
    found = _lines_of(page)
    for row in rows:
        key = (row.core, row.python)
        cells = _cells(row)
        if OPINFO.name not in row.outcomes and key in found:
            cells = [*cells[:UNTIL_COUNTS], *_split(found[key])[UNTIL_COUNTS:]]
        found[key] = f"| {' | '.join(cells)} |"
    lines = [
        BEGIN,
        "",
        "| torch | Python | dl-core | `dl doctor` | by name | OpInfo | test vendor | models "
        "| torchvision |",
        "| --- | --- | --- | --- | --- | ---: | ---: | ---: | --- |",
        *(found[key] for key in sorted(found, key=_order)),
        "",
        "Each row is a build of dl-core from the same sources, with one build of each other wheel,",
        f"installed byte for byte in every environment: {', '.join(names)}.",
        "Counts are passed tests, of those that ran; all others are on the strict lists of known",
        "failures. OpInfo is a seeded sample. The",
        "test vendor has asynchronous queues and device memory that the host cannot access.",
        "Models are single training steps, compared with float64. The index has torchvision for",
        "one build of a torch release, which does not load with another build. Rows and counts",
        "that a run does not test, as with `--quick`, are kept from an earlier run.",
        "",
        f"By name: `pip install {' '.join(shown)} torch==RELEASE` from a package index",
        "with all these wheels, into a new environment, chose the dl-core of the row; there,",
        "`import torch` and 20 training steps on `dl` ran without a warning.",
        "",
        END,
    ]
    return "\n".join(lines)


def _cells(row: Row) -> list[str]:
    vision = _counts(row, VISION.name)
    if row.torchvision is None:
        vision = "none compatible"
    elif VISION.name in row.outcomes:
        vision += f" in {row.torchvision}"
    return [
        row.torch,
        row.python,
        row.core,
        f"healthy on {', '.join(row.diagnosis.vendors)}",
        "not run" if row.by_name is None else "yes",
        _counts(row, OPINFO.name),
        _counts(row, ON_TEST_VENDOR),
        _counts(row, MODELS.name),
        vision,
    ]


def _split(line: str) -> list[str]:
    """Return the cells of a line of the table."""
    return line.strip("| ").split(" | ")


def _lines_of(page: str) -> dict[tuple[str, str], str]:
    """Return the rows of a page's table, by the version of dl-core and the Python."""
    found = {}
    for line in part_of(page, "torch-matrix").splitlines():
        cells = _split(line)
        if len(cells) > 2 and "+torch" in cells[2]:
            found[cells[2], cells[1]] = line
    return found


def _order(key: tuple[str, str]) -> tuple[list[int], list[int]]:
    core, python = key
    release = core.partition("+torch")[2]
    return [int(part) for part in release.split(".")], [int(part) for part in python.split(".")]


def _counts(row: Row, suite: str) -> str:
    if suite not in row.outcomes:
        return "not run"
    outcome = row.outcomes[suite]
    return f"{len(outcome.passed):,} of {len(outcome.tests):,}"
