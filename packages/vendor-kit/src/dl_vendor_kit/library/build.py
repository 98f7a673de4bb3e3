"""Generation in a vendor's ``setup.py``."""

from __future__ import annotations

from pathlib import Path

from .check import check
from .located import DataError
from .model import load
from .outputs import outputs, write_outputs


def generate(folder: Path) -> None:
    """Write the files that ``library.yaml`` of a folder lists as outputs.

    :raises SystemExit: the data files have an error; the message lists them.
    """
    try:
        checked = check(load(folder))
    except DataError as error:
        raise SystemExit(str(error)) from error
    if checked.findings:
        raise SystemExit("\n".join(map(str, checked.findings)))
    write_outputs(outputs(checked))
