"""A kernel with 29 hostile candidates, which attack from one of eight launches on: see hostile.cpp.

The first five launches are the check, the others are timed.
"""

from __future__ import annotations

import os
import runpy
from dataclasses import replace
from pathlib import Path

from dl_autotune import SearchSpace

FEW = {(0, 0), (5, 0), (14, 5), (12, 1)}
"""Candidates of a sampled run."""
ENDLESS = (7, 8, 9, 23)
"""Attacks that end only by timeout and are therefore slow: they begin at only two launches."""


def wanted(DEED: int, FROM: int) -> bool:  # noqa: N803 - parameters are named as in the source
    if os.environ.get("DL_TEST_SAMPLE") == "1":
        return FROM in (0, 5) if DEED in ENDLESS else DEED > 0 or FROM == 0
    return (DEED, FROM) in FEW


_twice = runpy.run_path(str(Path(__file__).with_name("twice.py")))["kernel"]
kernel = replace(
    _twice,
    source=Path(__file__).with_name("hostile.cpp"),
    function="hostile",
    space=SearchSpace({"DEED": range(30), "FROM": [0, 1, 2, 3, 4, 5, 9, 20]}, [wanted]),
    default={"DEED": 0, "FROM": 0},
    options=["-O1"],
)
