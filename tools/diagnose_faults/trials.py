"""Trials of faults under `dl diagnose`; trials of one program share a fork server."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dl_optools.bisect.starter import Starter
from dl_optools.diagnosis.diagnosis import Diagnosis, diagnose
from dl_optools.diagnosis.report import verdict as verdict_text
from dl_optools.diagnosis.runs import Runner
from tools.diagnose_faults.table import PROGRAMS, Fault, verdict
from tools.diagnose_faults.vendor import FaultyVendor

TIMEOUT = 300.0
HANG = 10.0
"""Seconds after which an operator counts as hung; the longest call takes milliseconds."""


@dataclass(frozen=True)
class Trial:
    """Outcome of one fault.

    :ivar outcome: ``named``, ``missed``, ``unchecked`` (missed, and the verdict says that this was
        not checked), ``false`` (another operator was reported) or ``void`` (no call had the fault).
    :ivar accused: the reported operators.
    :ivar text: the verdict of `dl diagnose`.
    """

    fault: Fault
    outcome: str
    accused: list[str]
    text: str
    seconds: float

    def as_json(self) -> dict[str, Any]:
        fault = self.fault
        return {
            "operator": fault.function,
            "argument": fault.argument,
            "action": fault.action,
            "condition": fault.condition,
            "program": fault.program,
            "outcome": self.outcome,
            "accused": self.accused,
            "verdict": self.text,
            "seconds": round(self.seconds, 1),
        }


class Trials:
    """Trials of one program.

    :param command: file of the program, in this package, and its arguments.
    :param folder: folder for results.
    """

    def __init__(self, vendor: FaultyVendor, command: Sequence[str], folder: Path) -> None:
        file, *arguments = command
        self._command = [sys.executable, str(PROGRAMS / file), *arguments]
        self._vendor, self._folder = vendor, folder
        self._starter = Starter(self._command, self._environ("", folder / "none"), TIMEOUT)
        self._count = 0

    def _environ(self, setting: str, log: Path) -> dict[str, str]:
        return {
            **os.environ,
            **self._vendor.variables(setting, log),
            "OMP_NUM_THREADS": "1",
            # Replaying a bundle shows nothing in addition to the comparison.
            "AUTOCOMPARE_BUNDLES": "0",
        }

    def diagnose(self, setting: str = "", *, quick: bool = False) -> tuple[Diagnosis, bool]:
        """Return the diagnosis of the program, and whether a call had the fault.

        :param setting: the fault; empty: none.
        """
        self._count += 1
        folder = self._folder / str(self._count)
        folder.mkdir(parents=True)
        environ = self._environ(setting, folder / "struck")
        runner = Runner(self._command, environ, folder, TIMEOUT, HANG, self._starter)
        found = diagnose(runner, lambda _: None, quick=quick)
        return found, (folder / "struck").exists()

    def run(self, fault: Fault, *, quick: bool = False) -> Trial:
        """Try one fault.

        :param quick: as ``dl diagnose --quick``.
        """
        begun = time.monotonic()
        found, struck = self.diagnose(fault.setting, quick=quick)
        accused = [each.name for each in found.guilty]
        text = verdict_text(found)
        outcome = verdict(fault, accused, text) if struck else "void"
        return Trial(fault, outcome, accused, text, time.monotonic() - begun)

    def close(self) -> None:
        """End the fork server."""
        self._starter.close()
