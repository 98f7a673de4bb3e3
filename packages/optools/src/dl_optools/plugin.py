"""What dl-optools adds to ``dl``: the commands of its modules ``commands_*``. Imports no torch."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence

import dl_optools
from dl_core.commands import Command
from dl_core.hookspecs import hookimpl


@hookimpl
def dl_cli_commands() -> Sequence[Command]:
    """All commands of the package, module by module."""
    names = [x.name for x in pkgutil.iter_modules(dl_optools.__path__)]
    modules = [
        importlib.import_module(f"dl_optools.{name}")
        for name in sorted(names)
        if name.startswith("commands_")
    ]
    return [x for module in modules for x in vars(module).values() if isinstance(x, Command)]
