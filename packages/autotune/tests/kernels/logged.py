"""A kernel with 500 identical candidates; the start of each one is logged in a file."""

from __future__ import annotations

import os
import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any

from dl_autotune import Launch, SearchSpace

_last = [0]


def launch(config: Any, shape: Any) -> Launch:
    """Return one block, and log the candidate; the default is not logged."""
    if config["NUMBER"] not in (0, _last[0]):
        _last[0] = config["NUMBER"]
        with Path(os.environ["DL_TEST_LOG"]).open("a") as file:
            file.write(f"{config['NUMBER']}\n")
    return Launch()


kernel = replace(
    runpy.run_path(str(Path(__file__).with_name("twice.py")))["kernel"],
    source=Path(__file__).with_name("logged.cpp"),
    function="logged",
    space=SearchSpace({"NUMBER": range(501)}),
    default={"NUMBER": 0},
    launch=launch,
)
