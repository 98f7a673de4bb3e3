"""Record the table of model families: ``python -m models.families.record`` in tests/.

Runs all families on dl:0, which DL_VENDORS selects, and writes ``tests/models.json`` of the
vendor's package and ``packages/core/docs/models.md``. Review the differences before committing
them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from opinfo.vendor_lists import LISTS

from dl_torch_tests.device.run import Result, arguments, vendor_here
from dl_torch_tests.models.families.run import line, run_families

from .page import NAME, PAGE, Recorded, page, recorded

DIGITS = 4
"""Number of digits of a recorded number: more would differ between processors."""


def entry(result: Result) -> dict[str, Any]:
    """Return the record of one family."""
    if result.facts is None:
        return {"problem": result.problem}
    return {name: _rounded(value) for name, value in result.facts.items()}


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def write(path: Path, results: list[Result]) -> Recorded:
    """Write the records of a vendor."""
    measured = {result.key[0]: entry(result) for result in results}
    # One line per family, for readable differences.
    lines = [f"{json.dumps(name)}: {json.dumps(found)}" for name, found in measured.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return measured


def main() -> int:
    """Run all families and record the results; fail if a family does."""
    options = arguments(__doc__).parse_args()
    if options.select:
        raise SystemExit("models.families.record records whole runs: leave out -k")
    vendor = vendor_here()
    path = LISTS.find(vendor, NAME)
    if path is None:
        raise SystemExit(f"no package here has vendor {vendor}, which would have the record")
    results = run_families(options.jobs)
    for result in results:
        print(line(result))
    write(path, results)
    PAGE.write_text(page(recorded()), encoding="utf-8")
    return int(any(result.problem for result in results))


if __name__ == "__main__":
    sys.exit(main())
