"""Run all families in child processes: ``python -m dl_torch_tests.models.families.run``.

As in the device-generic tests, a process that ends early fails only one family. Fails if any family
does.
"""

from __future__ import annotations

import sys

from ...device.run import Result, arguments, run_all
from .table import FAMILIES

TESTS = ["--pyargs", "dl_torch_tests.models.families.test_families"]


def run_families(jobs: int, select: str | None = None) -> list[Result]:
    """Return the results of all families, in the order of the table.

    :param jobs: number of concurrent processes.
    :param select: only families that match, as pytest's ``-k``.
    """
    order = {name: place for place, name in enumerate(FAMILIES)}
    found = run_all(jobs, [*TESTS, *(["-k", select] if select else [])])
    return sorted(found, key=lambda result: order[result.key[0]])


def line(result: Result) -> str:
    """Format the result of one family as a line."""
    told = "nothing measured"
    if result.facts:
        told = (
            "outputs {outputs:.2f}, gradients {gradients:.2f}, weights {weights:.2f} of the "
            "allowed error; {native:.1%} native"
        ).format(**result.facts)
    return f"{result.key[0]:30} {told}{f': {result.problem}' if result.problem else ''}"


def main() -> int:
    """Run all families, and print a line for each."""
    options = arguments(__doc__).parse_args()
    results = run_families(options.jobs, options.select)
    for result in results:
        print(line(result))
    right = sum(result.problem is None for result in results)
    print(f"model families: {right} of {len(results)} pass")
    return int(right < len(results) or not results)


if __name__ == "__main__":
    sys.exit(main())
