"""Criteria by which a run of a program counts as wrong."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from dl_optools.launching.lifetime import describe_status

NUMBER = r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|inf(?:inity)?|nan)"
_BAD = re.compile(r"(?<![\w.])[-+]?(?:nan|inf|infinity)(?![\w.])", re.IGNORECASE)
_NAMED = re.compile(rf"([A-Za-z_][\w./-]*)\s*[:=]?\s*{NUMBER}(?![\w.])", re.IGNORECASE)
_SHOWN = 12


class CriterionError(ValueError):
    """An expression or a number on the command line is invalid."""


@dataclass(frozen=True)
class Criteria:
    """Criteria in addition to a nonzero exit status.

    :ivar expect: regular expression that the output must match.
    :ivar metric: regular expression before a number, or with a group around one; the last printed
        number counts, and nan and inf are wrong.
    :ivar tolerance: allowed distance relative to the run in which every operator fell back.
    :ivar finite: the words nan and inf anywhere in the output are wrong.
    :ivar tensor: regular expression for names of tensors in the step that the program records. The
        metric is the largest distance of such a tensor from the run in which every operator fell
        back, relative to the tensor's largest value in that run.
    """

    expect: str | None = None
    metric: str | None = None
    tolerance: float = 1e-3
    finite: bool = False
    tensor: str | None = None

    def __post_init__(self) -> None:
        if self.tensor is not None and self.metric is not None:
            raise CriterionError("--tensor and --metric exclude each other; name one")
        for pattern in filter(None, (self.expect, self.metric, self.tensor)):
            try:
                groups = re.compile(pattern).groups
            except re.error as error:
                raise CriterionError(f"{pattern!r} is not a regular expression: {error}") from None
            if pattern == self.metric and groups > 1:
                raise CriterionError(f"--metric {pattern!r}: write one group, around the number")
        if not 0 <= self.tolerance < math.inf:
            raise CriterionError(f"--tolerance {self.tolerance}: must be a finite number >= 0")

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Criteria:
        return cls(**document)

    def number(self, output: str) -> float | None:
        """Return the metric; None if it was not printed."""
        if self.metric is None:
            return None
        pattern = re.compile(self.metric)
        if not pattern.groups:
            pattern = re.compile(rf"(?:{self.metric})\s*[:=]?\s*({NUMBER})", re.IGNORECASE)
        found = None
        for match in pattern.finditer(output):
            try:
                found = float(match[1])
            except (TypeError, ValueError):
                raise CriterionError(
                    f"--metric {self.metric!r} found {match[1]!r}, which is not a number"
                ) from None
        return found

    def missing_metric_error(self, output: str) -> CriterionError:
        """Return the error for a program that ends normally without printing the metric."""
        names = list(dict.fromkeys(match[1] for match in _NAMED.finditer(output)))
        seen = (
            f"it printed numbers after {', '.join(names[:_SHOWN])}"
            + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
            if names
            else "it printed no number after a word"
        )
        return CriterionError(f"--metric {self.metric!r}: the program never printed it; {seen}")

    def complaint(self, status: int, output: str, reference: float | None) -> str:
        """Describe what is wrong with a run; empty if nothing is.

        :param status: exit status.
        :param output: everything that it printed.
        :param reference: metric of the run in which every operator fell back; None in that run.
        """
        if status:
            return describe_status(status)
        if self.expect is not None and not re.search(self.expect, output):
            return f"no output matches {self.expect!r}"
        if self.finite and (found := _BAD.search(output)):
            return f"it printed {found[0]}"
        if self.metric is None:
            return ""
        number = self.number(output)
        if number is None:
            return f"it printed no number for {self.metric!r}"
        if not math.isfinite(number):
            return f"the metric is {number}"
        return self.distance(number, reference)

    def describe_margin(self, number: float | None, reference: float | None) -> str:
        """Describe the distance of a correct metric and the tolerance; empty without a metric."""
        if self.tensor is not None and number is not None:
            return (
                f"; the tensors are within a relative distance of {number:.3g} of those on the "
                f"CPU where --tolerance allows {self.tolerance:g}"
            )
        if number is None or reference is None:
            return ""
        off = abs(number - reference)
        relative = off / abs(reference) if reference else (math.inf if off else 0.0)
        return (
            f"; the metric is {number:.9g} on the device and {reference:.9g} on the CPU, a "
            f"relative distance of {relative:.3g} where --tolerance allows {self.tolerance:g}"
        )

    def distance(self, number: float | None, reference: float | None) -> str:
        """Describe a metric that is too far from the reference; empty if it is near or missing."""
        if self.tensor is not None:
            # For tensors the number already is a distance.
            wrong = number is not None and not number <= self.tolerance
            return f"tensors are {number:.3g} apart, allowed {self.tolerance:g}" if wrong else ""
        if number is None or reference is None:
            return ""
        if abs(number - reference) <= self.tolerance * abs(reference):
            return ""
        return f"the metric is {number:.9g}, want {reference:.9g} within {self.tolerance:g}"
