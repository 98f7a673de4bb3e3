"""Print the survey. See ``python -m tools.stable_abi --help``."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import astuple

from tools.projects import ROOT

from . import __doc__ as about
from .survey import Layer, Survey, survey

SOURCES = ROOT / "packages" / "core" / "csrc"


def tables(found: Survey) -> str:
    """Return the tables of layers and of missing parts, in Markdown."""
    lines = [
        "| layer | files | lines | without torch | stable ABI | with operators | blocked |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    rows = {**found.layers, "all": _total(found.layers.values())}
    for name, counts in rows.items():
        lines.append(f"| {name} | {' | '.join(f'{count:,}' for count in astuple(counts))} |")
    lines += ["", "| missing | files | only this |", "| --- | ---: | ---: |"]
    for name, count in found.lacking.most_common():
        lines.append(f"| {name} | {count} | {found.only[name]} |")
    return "\n".join(lines)


def _total(layers: Iterable[Layer]) -> Layer:
    rows = [astuple(each) for each in layers]
    return Layer(*(sum(column) for column in zip(*rows, strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.stable_abi", description=about)
    parser.add_argument("--signatures", action="store_true", help="test the types of signatures")
    arguments = parser.parse_args()
    print(tables(survey(SOURCES)))
    if arguments.signatures:
        from .signatures import table

        print(f"\n{table()}")


if __name__ == "__main__":
    main()
