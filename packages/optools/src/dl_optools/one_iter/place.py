"""Where steps are recorded. Imports no torch."""

from __future__ import annotations

from pathlib import Path

from dl_optools.environment import environment

VARIABLE = "DL_ONE_ITER_FOLDER"
"""A folder that takes the place of the parents of those that a program names."""


def placed(folder: Path | str) -> Path:
    """Where commands that run a program again and again have its steps."""
    parent = environment().get(VARIABLE)
    return Path(parent) / Path(folder).name if parent else Path(folder)
