"""Location of recorded steps. Imports no torch."""

from __future__ import annotations

from pathlib import Path

from dl_optools.environment import environment

VARIABLE = "DL_ONE_ITER_FOLDER"
"""Variable with a folder that replaces the parents of the folders that a program names."""


def redirect_folder(folder: Path | str) -> Path:
    """Return the folder of a step, as redirected by commands that run a program repeatedly."""
    parent = environment().get(VARIABLE)
    return Path(parent) / Path(folder).name if parent else Path(folder)
