"""Record which device-generic tests fail on a vendor: ``python -m device.record`` in tests/.

Runs all on dl:0, which DL_VENDORS selects, and writes

- ``known_failures.txt`` of dl-torch-tests and ``tests/device_known_failures.txt`` of the vendor's
package: each failure with its cause, grouped by cause. Existing causes are kept; causes.py provides
all new ones;
- ``packages/core/docs/device-tests.md``: the pass rates by kind, and the causes.

Review the differences before committing them: a new test in a list has begun to fail.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from opinfo.vendor_lists import LISTS, ROOT

from dl_torch_tests.device.kinds import KINDS
from dl_torch_tests.device.known_failures import CRASHES, NAME
from dl_torch_tests.device.run import Result, arguments, run_all, selected, vendor_here
from dl_torch_tests.opinfo.known_failures import ANY, Key, cause_of, parse

from .causes import CAUSES, UNEXPLAINED, explain
from .page import PAGE, Failures, with_section

SHARED = ROOT / "packages/torch-tests/src/dl_torch_tests/device/known_failures.txt"
"""The list of all vendors; the tests read the installed copy."""
FIRST = "# test | kind | dtype | cause"
HEADS = {
    True: "# Failures because of dl or of torch; vendors have lists of their own.",
    False: "# Written by python -m device.record, which keeps the causes that are here.",
}


def failures_in(results: Iterable[Result], known: Mapping[Key, str]) -> Failures:
    """Return the cause of every failure: the known one, or one of causes.py."""
    found = {}
    for result in results:
        if result.problem is not None:
            listed = cause_of(dict(known), *result.key)
            fits = listed is not None and result.crashed == listed.startswith(CRASHES)
            if listed is not None and fits and not listed.startswith(UNEXPLAINED):
                found[result.key] = listed
            else:
                found[result.key] = explain(result.key, result.problem).text
    return found


def lines_of(failures: Failures, results: Iterable[Result]) -> list[str]:
    """Return the lines of a list, grouped by cause; one line for a test that fails in all its
    dtypes."""
    dtypes: dict[tuple[str, str], set[str]] = defaultdict(set)
    for result in results:
        dtypes[result.key[:2]].add(result.key[2])
    clusters: dict[str, dict[tuple[str, str], set[str]]] = defaultdict(lambda: defaultdict(set))
    for (name, kind, dtype), cause in failures.items():
        clusters[cause][name, kind].add(dtype)
    lines = []
    for cause, tests in sorted(clusters.items()):
        count = sum(map(len, tests.values()))
        lines += ["", f"# {count} {'tests' if count > 1 else 'test'}: {cause}"]
        for name, kind in sorted(tests):
            failing = tests[name, kind]
            every = len(failing) > 1 and failing == dtypes[name, kind]
            for dtype in [ANY] if every else sorted(failing):
                lines.append(f"{name} | {kind} | {dtype} | {cause}")
    return lines


def write(path: Path, head: str, lines: list[str]) -> None:
    path.write_text("\n".join([FIRST, head, *lines]) + "\n", encoding="utf-8")


def read(path: Path) -> dict[Key, str]:
    """Read an existing list, or return an empty one."""
    return parse(path.read_text(encoding="utf-8"), str(path), tuple(KINDS)) if path.exists() else {}


def record(vendor: str, results: list[Result]) -> Failures:
    """Write the lists and the page; return the failures.

    :raises RuntimeError: no package has this vendor.
    """
    own = LISTS.find(vendor, NAME)
    if own is None:
        raise RuntimeError(f"no package here has vendor {vendor}, which would have the list")
    shared = read(SHARED)
    failures = failures_in(results, shared | read(own))
    everywhere = {cause.text for cause in CAUSES if cause.everywhere} | set(shared.values())
    for path, common in ((SHARED, True), (own, False)):
        kept = {key: cause for key, cause in failures.items() if (cause in everywhere) == common}
        write(path, HEADS[common], lines_of(kept, results))
    text = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(with_section(text, vendor, results, failures), encoding="utf-8")
    return failures


def main() -> int:
    """Run all tests and record the results; fail if a cause is missing."""
    options = arguments(__doc__).parse_args()
    if options.select:
        raise SystemExit(
            "device.record records whole runs: leave out -k, or use dl_torch_tests.device.run"
        )
    failures = record(vendor_here(), list(run_all(options.jobs, selected(options))))
    for cause, count in Counter(failures.values()).most_common():
        print(f"{count:6} {cause}")
    return int(any(cause.startswith(UNEXPLAINED) for cause in failures.values()))


if __name__ == "__main__":
    sys.exit(main())
