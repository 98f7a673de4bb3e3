"""Which operators a run uses, each written down when it is first called."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import IO, Any, cast

from dl_core.torch_backend.judging.op_classes import draws
from dl_core.torch_backend.judging.schema import Overload, signature
from dl_optools.bisect.name_list import FOLDER_VARIABLE, MODULES_SUFFIX
from dl_optools.call import OpCall
from dl_optools.environment import environment
from dl_optools.names import Level
from dl_optools.on_host import only_on_device
from dl_optools.tool import Tool


class NameCollector(Tool):
    """Adds a line to ``<folder>/<process>.txt`` for each operator, in the order of first calls.

    It is written at once, so that a run that dies has it. The folder is what ``DL_TOOLS_NAMES``
    says, or the working directory. ``<process>.modules`` gets what was imported.
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
        # Views compute nothing, wherever they run; what only devices have runs nowhere else.
        return self.level is Level.API or not (signature(function).view or only_on_device(function))

    def handle(self, call: OpCall) -> Any:
        if call.name not in self._seen and not _draws(call):
            self._seen.add(call.name)
            self._file.write(call.name + "\n")
            self._file.flush()
        return call.proceed()


def _draws(call: OpCall) -> bool:
    """Whether it draws random numbers: these stay on the device, the CPU's would be others."""
    if call.level is Level.API:
        return False
    return draws(cast("Overload[Any, Any]", call.function), call.args, call.kwargs)
