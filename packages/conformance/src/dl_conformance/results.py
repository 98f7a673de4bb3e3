"""Results of a run: counts, causes, and the worst element for each operator and dtype."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from xml.etree import ElementTree

from ._version import __version__
from .model_table import ModelsOf, as_lines, model_table
from .outcome import Outcome

FORMAT = 1
"""Version of the JSON report; it changes when readers of the old format would be misled."""
_MOST_DECLINES = 10
"""Reasons for declined calls that the summary lists."""
_DIGITS = 3
"""Decimal digits of the seconds in a report."""
Key = TypeVar("Key", bound=tuple[str, str])
Failure = TypeVar("Failure")
COUNTED = ("passed", "failed", "unsupported", "skipped", "unchecked", "known failure")


@dataclass
class Results:
    """Outcomes of a run.

    :ivar known: names of cases that are known to fail; a known case that passes is a failure.
    :ivar strict: dtypes by operator that must be supported.
    :ivar models_of: models that make the call of a case, by its name.
    :ivar models: models that the summary reports.
    """

    known: frozenset[str] = frozenset()
    strict: Mapping[str, Iterable[str]] = field(default_factory=dict)
    models_of: ModelsOf = field(default_factory=dict)
    models: Sequence[str] = ()
    outcomes: list[Outcome] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        """Count an outcome."""
        self.outcomes.append(self.judged(outcome))

    def judged(self, outcome: Outcome) -> Outcome:
        """Return the outcome after applying known failures and the profile."""
        if outcome.name in self.known:
            if outcome.status == "failed":
                return replace(outcome, status="known failure")
            if outcome.status == "passed":
                detail = "it is on the list of known failures but passes: remove it from the list"
                return replace(outcome, status="failed", cause="known failure", detail=detail)
        elif outcome.status == "unsupported" and outcome.dtype in self.strict.get(
            outcome.operator, ()
        ):
            detail = f"the profile promises {outcome.dtype}: {outcome.detail or outcome.cause}"
            return replace(outcome, status="failed", cause="promised", detail=detail)
        return outcome

    def counts(self) -> dict[str, int]:
        found = Counter(x.status for x in self.outcomes)
        return {status: found[status] for status in COUNTED}

    @property
    def failed(self) -> list[Outcome]:
        return [x for x in self.outcomes if x.status == "failed"]

    def matrix(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Return counts and the worst element, in units of its bound, by operator and dtype."""
        found: dict[str, dict[str, dict[str, Any]]] = {}
        for outcome in self.outcomes:
            if not outcome.dtype:
                continue
            cell = found.setdefault(outcome.operator, {}).setdefault(outcome.dtype, {})
            cell[outcome.status] = cell.get(outcome.status, 0) + 1
            if math.isfinite(outcome.worst):
                cell["worst"] = max(cell.get("worst", 0.0), outcome.worst)
        return found

    def conversions(self) -> dict[str, dict[str, int]]:
        """Return the counts of the adaptor's conversions by operator."""
        found: dict[str, Counter[str]] = {}
        for outcome in self.outcomes:
            if outcome.conversions:
                found.setdefault(outcome.operator, Counter()).update(outcome.conversions)
        return {name: dict(sorted(found[name].items())) for name in sorted(found)}

    def declines(self) -> list[tuple[tuple[str, str], list[Outcome]]]:
        """Return declined cases by operator and the library's words, the largest cluster first."""
        declined = [x for x in self.outcomes if x.is_declined]
        return clustered(((x.operator, reason(x.cause, x.detail)), x) for x in declined)

    def clusters(self) -> list[tuple[tuple[str, str], list[Outcome]]]:
        """Return failures by operator and cause, the largest cluster first."""
        return clustered(((x.operator, x.cause), x) for x in self.failed)

    def text(self, about: Mapping[str, Any], seconds: float) -> str:
        """Return the summary for a terminal."""
        lines = self._declined()
        for (operator, cause), outcomes in self.clusters():
            lines.append(f"{operator}: {cause}: {len(outcomes)} cases, such as {outcomes[0].name}")
            lines += [f"    {line}" for line in outcomes[0].detail.splitlines()[:8]]
        lines += self._adapted(about)
        lines += [f"operators added by {line}" for line in about.get("adds", ())]
        lines += as_lines(model_table(self.outcomes, self.models_of), self.models)
        if about.get("device"):
            lines.append(f"device: {about['device']}")
        counts = self.counts()
        shown = ", ".join(
            f"{n} {status}" for status, n in counts.items() if n or status in COUNTED[:4]
        )
        operators = {x.operator for x in self.outcomes if x.dtype and x.status != "unsupported"}
        # Rounded as in the report, because a finished run is printed again from it.
        took = round(seconds, _DIGITS)
        lines.append(
            f"{called(about)}: {len(self.outcomes)} cases of {len(operators)} operators "
            f"in {took:.1f} s: {shown}".replace("unchecked", "with nothing to check")
        )
        return "\n".join(lines)

    def _declined(self) -> list[str]:
        """Return lines about the most frequent reasons for which the library declined calls."""
        found = self.declines()
        lines = [
            f"{operator}: declined: {why}: {len(outcomes)} cases, such as {outcomes[0].name}"
            for (operator, why), outcomes in found[:_MOST_DECLINES]
        ]
        if len(found) > _MOST_DECLINES:
            more = len(found) - _MOST_DECLINES
            lines.append(f"{more} more reasons for declined calls: --json has all")
        return lines

    def _adapted(self, about: Mapping[str, Any]) -> list[str]:
        if not about.get("adapted"):
            return []
        done = sum(sum(x.values()) for x in self.conversions().values())
        cases = sum(bool(x.conversions) for x in self.outcomes)
        return [f"adaptor, {about['adapted']}: {done} conversions in {cases} cases"]

    def as_dict(self, about: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Return the report as data."""
        return {
            "format": FORMAT,
            "suite": __version__,
            "vendor": dict(about),
            "seconds": round(seconds, _DIGITS),
            "counts": self.counts(),
            "operators": self.matrix(),
            "conversions": self.conversions(),
            "models": model_table(self.outcomes, self.models_of),
            "cases": [as_data(x) for x in sorted(self.outcomes, key=lambda x: x.name)],
        }

    def json(self, about: Mapping[str, Any], seconds: float) -> str:
        """Return the report as JSON."""
        return json.dumps(self.as_dict(about, seconds), indent=1, allow_nan=False) + "\n"

    def junit(self, about: Mapping[str, Any], seconds: float) -> str:
        """Return the report as JUnit XML, for continuous integration."""
        counts = self.counts()
        suite = ElementTree.Element(
            "testsuite",
            name=f"dl-conformance {called(about)}",
            tests=str(len(self.outcomes)),
            failures=str(counts["failed"]),
            skipped=str(len(self.outcomes) - counts["failed"] - counts["passed"]),
            time=f"{seconds:.3f}",
        )
        for outcome in self.outcomes:
            case = ElementTree.SubElement(
                suite,
                "testcase",
                classname=outcome.operator,
                name=outcome.name,
                time=f"{outcome.seconds:.4f}",
            )
            if outcome.status == "failed":
                failure = ElementTree.SubElement(case, "failure", message=outcome.cause)
                failure.text = _printable(outcome.detail)
            elif outcome.status != "passed":
                words = f": {outcome.detail}" if outcome.is_declined and outcome.detail else ""
                message = _printable(f"{outcome.status} {outcome.cause}{words}".strip())
                ElementTree.SubElement(case, "skipped", message=message)
        text = ElementTree.tostring(suite, encoding="unicode")
        return f"<?xml version='1.0' encoding='utf-8'?>\n{text}"


def reason(cause: str, detail: str) -> str:
    """Return why the library declined a case: its own words with the code, or the code alone."""
    return f"{detail} ({cause})" if detail else cause


def called(about: Mapping[str, Any]) -> str:
    """Return the display name of the library.

    It marks simulated devices, and states a vendor's restriction, in all reports.
    """
    name = f"{about.get('name', '')} {about.get('version', '')}".strip() or "a library"
    marks = ["simulated"] if about.get("simulated") else []
    marks += [about["status"]] if about.get("status") else []
    return ", ".join([name, *marks])


def clustered(failures: Iterable[tuple[Key, Failure]]) -> list[tuple[Key, list[Failure]]]:
    """Group failures by key, the largest cluster first."""
    found: dict[Key, list[Failure]] = {}
    for key, failure in failures:
        found.setdefault(key, []).append(failure)
    return sorted(found.items(), key=lambda x: (-len(x[1]), x[0]))


def _printable(text: str) -> str:
    """Replace characters that XML cannot represent."""
    return "".join(x if x in "\n\t" or x.isprintable() else "?" for x in text)


def as_data(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as JSON data, without empty entries."""
    found = outcome.as_dict()
    found["worst"] = outcome.worst if math.isfinite(outcome.worst) else None
    found["seconds"] = round(outcome.seconds, 5)
    return {key: value for key, value in found.items() if value not in ("", None, {})}
