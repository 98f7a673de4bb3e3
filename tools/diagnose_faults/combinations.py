"""Combinations of all actions with all conditions, over the operators of sites.yaml.

Each pair of an action and a condition is tried on at least one operator. Operators alternate, so
that each gets several actions and conditions, and the choice is deterministic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from tools.diagnose_faults.table import Fault

SITES = Path(__file__).with_name("sites.yaml")
CONDITIONS = (
    *("always", "nth", "later", "rare", "shape", "dtype", "big", "range", "thread", "backward"),
    "compiled",
)
NUMERIC = (
    *("add", "scale", "zero", "nan", "stale", "coarse", "off-by-one", "drop-tail", "alias"),
    *("crash", "hang", "exit"),
)
"""Actions for any operator with a floating-point result."""
ACTIONS = (*NUMERIC, "zero-sign", "saved", "repeat")
SAMPLES = {"always": 2, "repeat": 4}
"""Number of operators per pair, where it is more than one."""
_SENSELESS = {
    # Overwritten elements do not depend on the range of a result, and tails are too short for it.
    ("alias", "range"),
    ("drop-tail", "range"),
    # The mean of large values is large.
    ("zero-sign", "range"),
    # The first result of the operator has a different shape than the results that repeat it.
    ("repeat", "shape"),
}


def combinations() -> Iterator[Fault]:
    """Yield the faults.

    :raises TableError: a site is invalid.
    """
    sites: list[dict[str, Any]] = yaml.safe_load(SITES.read_text(encoding="utf-8"))
    used: Counter[int] = Counter()
    for condition in CONDITIONS:
        for action in ACTIONS:
            if (action, condition) in _SENSELESS:
                continue
            fitting = [at for at, site in enumerate(sites) if _fits(site, action, condition)]
            count = max(SAMPLES.get(condition, 1), SAMPLES.get(action, 1))
            for at in sorted(fitting, key=lambda at: (used[at], at))[:count]:
                used[at] += 1
                yield _fault(sites[at], action, condition)


def _fits(site: Mapping[str, Any], action: str, condition: str) -> bool:
    if condition != "always" and condition not in site["conditions"]:
        return False
    return action in site.get("actions", NUMERIC)


def _fault(site: Mapping[str, Any], action: str, condition: str) -> Fault:
    fields = {key: site[key] for key in ("operator", "argument", "program", "names")}
    return Fault(**fields, action=action, condition=condition)
