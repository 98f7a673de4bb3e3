"""Description of a first step of users who come from CUDA."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """A first step.

    :ivar name: name of its test.
    :ivar package: package that the step is about.
    :ivar shown: what the user writes, for the table.
    :ivar code: the program.
    :ivar launcher: options of Python before the program's path, such as those of a launcher.
    :ivar devices: number of devices that the step needs.
    :ivar tested: version of the package with which a step was tested that runs only where the
        package is installed; empty for the requirements of the tests.
    """

    name: str
    package: str
    shown: str
    code: str
    launcher: tuple[str, ...] = ()
    devices: int = 1
    tested: str = ""
