"""Tensors of a recorded step as what makes a run wrong: how far they are from another run's.

Imports torch, so it is imported where a search compares tensors only.
"""

from __future__ import annotations

import re
from pathlib import Path

from dl_optools.one_iter.events import relative
from dl_optools.one_iter.folder import OneIterError, Reader


def farthest(trusted: Path, tested: Path, pattern: str) -> tuple[float, str]:
    """The largest distance of the tensors that an expression names, and which one it is.

    :param trusted: what a run recorded: a folder for each step, in it one for each rank.
    :param tested: the same of another run.
    :param pattern: searched in texts such as ``weight gradient 0.weight: value`` or
        ``module 2 (forward): output``.
    :return: relative, in units of the trusted tensor's largest value; inf: one is missing, has
        another shape, or nan and inf where the other has none.
    :raises OneIterError: nothing was recorded, or nothing has such a name.
    """
    expression = re.compile(pattern)
    worst, where, met = 0.0, "", False
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
                met = True
                mine = None if other is None else other.outputs.get(name)
                if got is None or mine is None:
                    return float("inf"), text
                if mine == value:
                    continue
                common = (text, record.kind, record.name, record.module, record.call, record.phase)
                error = relative(common, name, want.tensor(value), got.tensor(mine), None).error
                if error > worst:
                    worst, where = error, text
    if not met:
        raise OneIterError(
            f"no tensor of a step that the program recorded is named {pattern!r}; a step is "
            "recorded by `with OneIter(model, folder):`, and `dl one-iter show` lists its names"
        )
    return worst, where
