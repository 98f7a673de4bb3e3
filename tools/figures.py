"""Update the figures of vendors from the reports of the suite and of ``dl coverage``.

    python -m tools.figures VENDOR=CONFORMANCE.json,COVERAGE.json ...

writes docs/reference/vendor-results.md. ``tools/nox -s figures`` creates the reports and calls
this program.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.generated_part import END, begin, with_part

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "vendor-results.md"
BEGIN = begin("figures")
TIERS = {
    "A": "ATen overloads of models and optimizers without a fallback",
    "B": "of linear algebra and special functions",
}


@dataclass(frozen=True)
class Figures:
    """Figures of one vendor.

    :ivar operators: number of contract operators.
    :ivar present: number of operators that a case of the suite could call.
    :ivar verified: number of operators with a passed case that compares numbers.
    :ivar counts: number of cases by outcome.
    :ivar tiers: number of native or composed overloads and of all overloads, by tier.
    """

    vendor: str
    operators: int
    present: int
    verified: int
    counts: Mapping[str, int]
    tiers: Mapping[str, tuple[int, int]]


def figures(vendor: str, operators: int, suite: Any, coverage: Any) -> Figures:
    """Return the figures from two reports.

    :param operators: number of contract operators.
    :raises ValueError: a report is incomplete, or has no device of the vendor.
    """
    status: dict[str, set[str]] = {}
    for case in suite["cases"]:
        # Checks of devices, memory and streams are not operators.
        if case["operator"] != "runtime":
            status.setdefault(case["operator"], set()).add(case["status"])
    if len(status) < operators:
        raise ValueError(f"the report of {vendor} has cases of {len(status)} of {operators}")
    devices = [device for device in coverage["devices"] if device["vendor"] == vendor]
    if not devices:
        raise ValueError(f"dl coverage found no device of {vendor}")
    tiers = {}
    for tier in TIERS:
        kinds = {kind: found["count"] for kind, found in devices[0]["tiers"][tier].items()}
        tiers[tier] = (kinds["native"] + kinds["composed"], sum(kinds.values()))
    return Figures(
        vendor,
        operators,
        sum(found != {"unsupported"} for found in status.values()),
        sum("passed" in found for found in status.values()),
        suite["counts"],
        tiers,
    )


def table(vendors: Sequence[Figures]) -> str:
    """Return the rows, with a column for each vendor."""
    shown = {
        "operators of the contract": [f"{x.present} of {x.operators}" for x in vendors],
        "… that passed with numbers compared": [str(x.verified) for x in vendors],
        "cases of the conformance suite": [f"{sum(x.counts.values()):,}" for x in vendors],
    }
    for status in vendors[0].counts:
        name = "nothing to check" if status == "unchecked" else status
        shown[f"… {name}"] = [f"{x.counts[status]:,}" for x in vendors]
    for tier, what in TIERS.items():
        shown[f"{what} (tier {tier})"] = [
            f"{100 * x.tiers[tier][0] / x.tiers[tier][1]:.1f} % of {x.tiers[tier][1]}"
            for x in vendors
        ]
    head = ["", *(x.vendor for x in vendors)]
    lines = [head, ["---", *("---:" for _ in vendors)], *([k, *v] for k, v in shown.items())]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def part(vendors: Sequence[Figures]) -> str:
    """Return the table between the lines that mark it as generated."""
    return f"{BEGIN}\n\n{table(vendors)}\n\n{END}"


def main() -> int:
    from diopi_proto.schema import load

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("reports", nargs="+", metavar="VENDOR=CONFORMANCE.json,COVERAGE.json")
    found = []
    for text in parser.parse_args().reports:
        vendor, _, paths = text.partition("=")
        suite, coverage = (json.loads(Path(path).read_text("utf-8")) for path in paths.split(","))
        found.append(figures(vendor, len(load()), suite, coverage))
    PAGE.write_text(with_part(PAGE.read_text("utf-8"), part(found)), encoding="utf-8")
    sys.stdout.write(table(found) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
