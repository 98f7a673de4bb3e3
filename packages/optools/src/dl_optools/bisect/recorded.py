"""Distance between the recorded steps of two runs, as the criterion of a bisection.

This module imports torch, so it is imported only where a search compares tensors.
"""

from __future__ import annotations

import re
from pathlib import Path

from dl_optools.one_iter.events import relative
from dl_optools.one_iter.folder import OneIterError, Reader


def farthest(trusted: Path, tested: Path, pattern: str) -> tuple[float, str]:
    """Return the largest distance among the tensors that match an expression, and its name.

    :param trusted: recording of a run: a folder for each step with a subfolder for each rank.
    :param tested: recording of another run.
    :param pattern: searched in texts such as ``weight gradient 0.weight: value`` or
        ``module 2 (forward): output``.
    :return: distance relative to the trusted tensor's largest value; inf if a tensor is missing,
        has a different shape, or has nan or inf where the other tensor has none.
    :raises OneIterError: nothing was recorded, or no name matches.
    """
    expression = re.compile(pattern)
    worst, where, matched = 0.0, "", False
    for index in sorted(trusted.rglob("index.json")):
        want = Reader(index.parent)
        place = tested / index.parent.relative_to(trusted)
        got = Reader(place) if place.exists() else None
        for record in want.records:
            other = None if got is None else got.find(record.key)
            for name, value in record.outputs.items():
                text = f"{record}: {name}"
                if record.random or not expression.search(text):
                    continue
                matched = True
                mine = None if other is None else other.outputs.get(name)
                if got is None or mine is None:
                    return float("inf"), text
                if mine == value:
                    continue
                common = (text, record.kind, record.name, record.module, record.call, record.phase)
                error = relative(common, name, want.tensor(value), got.tensor(mine), None).error
                if error > worst:
                    worst, where = error, text
    if not matched:
        raise OneIterError(
            f"no tensor of a step that the program recorded is named {pattern!r}; a step is "
            "recorded by `with OneIter(model, folder):`, and `dl one-iter show` lists its names"
        )
    return worst, where
