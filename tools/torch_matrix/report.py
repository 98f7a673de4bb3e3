"""Results of the matrix, as JSON and as the table of docs/reference/torch-releases.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tools.generated_part import END, begin

from .doctor import Diagnosis
from .suites import MODELS, ON_TEST_VENDOR, OPINFO, VISION, Outcome, same_selection

BEGIN = begin("torch-matrix")


@dataclass(frozen=True)
class Row:
    """One release.

    :ivar torch: its version with the local part.
    :ivar core: the version of dl-core.
    :ivar digest: the SHA-256 digest of dl-core's wheel.
    :ivar refusals: problems with the rejection of other releases' dl-core.
    :ivar torchvision: its version, None if no torchvision is compatible with this torch.
    :ivar outcomes: outcomes by suite name.
    """

    release: str
    torch: str
    core: str
    digest: str
    diagnosis: Diagnosis
    refusals: Sequence[str]
    torchvision: str | None
    outcomes: Mapping[str, Outcome]

    def problems(self) -> list[str]:
        """Return the problems that prevent support of this release; empty if it is supported."""
        found = [*self.diagnosis.problems, *self.refusals]
        if not self.diagnosis.vendors:
            found.append("no device is visible")
        for name, outcome in self.outcomes.items():
            if not outcome.right:
                wrong = outcome.failed or ["no test ran"]
                found.append(f"{name}: {len(outcome.failed)} failed, the first is {wrong[0]}")
        return [f"torch {self.release}: {problem}" for problem in found]

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
            "version of torchvision": self.torchvision,
            **{name: outcome.as_json() for name, outcome in self.outcomes.items()},
        }


def as_json(rows: Sequence[Row], wheels: Mapping[str, str]) -> dict[str, object]:
    """Return the whole report.

    :param wheels: SHA-256 digest of each wheel that is shared by all releases, by file name.
    """
    opinfo = [row.outcomes[OPINFO.name] for row in rows]
    return {
        "wheels": dict(wheels),
        "releases": {row.release: row.as_json() for row in rows},
        "OpInfo tests that all releases ran": same_selection(opinfo),
    }


def section(rows: Sequence[Row], wheels: Mapping[str, str]) -> str:
    """Return the table with its legend, between the lines that mark it as generated."""
    released = [name for name in wheels if not name.startswith("test/")]
    names = sorted(name.partition("-")[0].replace("_", "-") for name in released)
    shared = same_selection([row.outcomes[OPINFO.name] for row in rows])
    lines = [
        BEGIN,
        "",
        "| torch | dl-core | `dl doctor` | OpInfo | on the test vendor | models | torchvision |",
        "| --- | --- | --- | ---: | ---: | ---: | --- |",
    ]
    for row in rows:
        vision = "none compatible"
        if row.torchvision is not None:
            vision = f"{_counts(row.outcomes[VISION.name])} in {row.torchvision}"
        cells = (
            row.torch,
            row.core,
            f"healthy on {', '.join(row.diagnosis.vendors)}",
            _counts(row.outcomes[OPINFO.name]),
            _counts(row.outcomes[ON_TEST_VENDOR]),
            _counts(row.outcomes[MODELS.name]),
            vision,
        )
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        f"{len(rows)} builds of dl-core from one source and one of each other wheel, installed",
        f"byte for byte under every release: {', '.join(names)}.",
        "Counts are passed tests, of those that ran; all others are on the strict lists of known",
        f"failures. OpInfo is a seeded sample, of which all releases ran {shared:,} tests. The",
        "test vendor has asynchronous queues and device memory that the host cannot access.",
        "Models are single training steps, compared with float64. The index has torchvision for",
        "one build of a torch release, which does not load with another build.",
        "",
        END,
    ]
    return "\n".join(lines)


def _counts(outcome: Outcome) -> str:
    return f"{len(outcome.passed):,} of {len(outcome.tests):,}"
