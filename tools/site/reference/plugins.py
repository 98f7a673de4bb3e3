"""Plugins of this repository, found without installing them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

from dl_core.commands import Command
from dl_core.commands_builtin import BUILTIN
from tools.site.table import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True)
class OwnedCommand:
    """A command and the wheel that it belongs to."""

    wheel: str
    command: Command


def commands() -> list[OwnedCommand]:
    """Return the commands of core and of all plugins, by name."""
    found = [OwnedCommand("dl-core", command) for command in BUILTIN]
    for wheel, module in _plugins():
        if hasattr(module, "dl_cli_commands"):
            found += [OwnedCommand(wheel, command) for command in module.dl_cli_commands()]
    return sorted(found, key=lambda owned: owned.command.name)


def _plugins() -> Iterator[tuple[str, ModuleType]]:
    for path in sorted(ROOT.glob("packages/*/pyproject.toml")):
        project = tomllib.loads(path.read_text("utf-8"))["project"]
        for module in project.get("entry-points", {}).get("dl", {}).values():
            yield project["name"], importlib.import_module(module)
