"""Plugin of ``dl`` that adds the commands of :mod:`.commands`. Imports no torch."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence

from dl_core.commands import Command
from dl_core.hookspecs import hookimpl


@hookimpl
def dl_cli_commands() -> Sequence[Command]:
    """Return all commands of the package, module by module."""
    from dl_optools import commands

    modules = [
        importlib.import_module(f"{commands.__name__}.{x.name}")
        for x in pkgutil.iter_modules(commands.__path__)
    ]
    return [x for module in modules for x in vars(module).values() if isinstance(x, Command)]
