"""``python -m operator_fuzz [--calls N] [--seed S] [--operators REGEX] [--call OPERATOR:NUMBER]``.

Makes random calls of every operator on dl and on torch's CPU, prints the differences by cause and
operator, and writes JSON. The exit code is 1 if a difference has no cause. Run it in ``tests`` with
``DL_VENDORS`` set, or as ``nox -s fuzz-operators``.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import defaultdict
from pathlib import Path

from .runner import Finding, Result, Runner
from .targets import targets

CALLS = 100_000


def main() -> int:
    parser = argparse.ArgumentParser(prog="operator_fuzz", description=__doc__)
    parser.add_argument(
        "--calls", type=int, default=CALLS, help="total number of calls (default: 100000)"
    )
    parser.add_argument("--seed", default="1", help="seed of the session (default: 1)")
    parser.add_argument("--operators", default="", help="only operators that match this pattern")
    parser.add_argument("--call", help="run a single call, OPERATOR:NUMBER, and show its outcomes")
    parser.add_argument("--device", default="dl", help="device under test (default: dl)")
    parser.add_argument("--workers", type=int, default=1, help="number of processes (default: 1)")
    parser.add_argument("--shown", type=int, default=3, help="calls to show of each group")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    options = parser.parse_args()
    if options.call:
        from .single import show_call

        return show_call(options.call, options.seed, options.device)
    names = [name for name in targets() if re.search(options.operators, name)]
    each = max(1, -(-options.calls // len(names)))
    started = time.monotonic()
    result = Runner(options.seed, options.device, options.workers).run(names, range(each))
    sys.stdout.write(report(result, options.shown))
    sys.stdout.write(f"{time.monotonic() - started:.0f} s\n")
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(result.as_json(), indent=1) + "\n", encoding="utf-8")
    return 1 if result.unexplained else 0


def report(result: Result, shown: int) -> str:
    """Format the counts, and the unexplained differences by operator and kind."""
    lines = [f"{count:8} {end}" for end, count in result.ends.most_common()]
    groups: dict[tuple[str, str], list[Finding]] = defaultdict(list)
    for finding in result.unexplained:
        groups[finding.kind, finding.operator].append(finding)
    for (kind, operator), found in sorted(groups.items(), key=lambda x: (x[0][0], -len(x[1]))):
        lines.append(f"{len(found):5} {kind}: {operator}")
        for finding in found[:shown]:
            lines.append(f"      {finding.call}\n        {finding.text}")
            lines.append(f"        again: {finding.repeat(result.seed)}")
    lines.append(
        f"{result.calls} calls of {len(result.operators)} operators, "
        f"{len(result.unexplained)} unexplained differences, seed {result.seed}"
    )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
