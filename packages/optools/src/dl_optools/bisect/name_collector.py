"""Collects the operators that a run uses, each recorded at its first call."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import IO, Any, cast

from diopi_proto.tolerance.torch_operators.op_classes import draws
from diopi_proto.tolerance.torch_operators.schema import Overload, signature
from dl_optools.bisect.name_list import FOLDER_VARIABLE, MODULES_SUFFIX
from dl_optools.call import OpCall
from dl_optools.environment import environment
from dl_optools.names import Level
from dl_optools.on_host import only_on_device
from dl_optools.tool import Tool


class NameCollector(Tool):
    """Adds a line to ``<folder>/<process>.txt`` for each operator, in the order of first calls.

    Lines are written at once, so that they survive a run that dies. ``DL_TOOLS_NAMES`` names the
    folder (default: the working directory). ``<process>.modules`` lists the imported modules.
    """

    variable = "NAMES"
    default_level = Level.DISPATCH
    observes = True

    def opened(self) -> None:
        folder = Path(environment().get(FOLDER_VARIABLE) or ".")
        folder.mkdir(parents=True, exist_ok=True)
        self._seen: set[str] = set()
        self._path = folder / f"{os.getpid()}.txt"
        self._file: IO[str] = self._path.open("a", encoding="utf-8")

    def closed(self) -> None:
        self._file.close()
        modules = "".join(f"{name}\n" for name in list(sys.modules))
        self._path.with_suffix(MODULES_SUFFIX).write_text(modules, encoding="utf-8")

    def wants(self, name: str, function: Any) -> bool:
        if not super().wants(name, function):
            return False
        # Views compute nothing; operators without a CPU implementation cannot fall back.
        return self.level is Level.API or not (signature(function).view or only_on_device(function))

    def handle(self, call: OpCall) -> Any:
        if call.name not in self._seen and not _draws(call):
            self._seen.add(call.name)
            self._file.write(call.name + "\n")
            self._file.flush()
        return call.proceed()


def _draws(call: OpCall) -> bool:
    """Return True if a call draws random numbers: it stays on the device, whose numbers differ."""
    if call.level is Level.API:
        return False
    return draws(cast("Overload[Any, Any]", call.function), call.args, call.kwargs)
