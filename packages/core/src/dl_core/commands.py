"""Subcommands of ``dl``: the built-in ones and those of plugins."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Command:
    """One subcommand of ``dl``."""

    name: str
    """Name that the user types after ``dl``."""
    help: str
    """One line for ``dl --help``."""
    configure: Callable[[argparse.ArgumentParser], None]
    """Function that adds the arguments to the parser. Called only when ``dl`` runs."""
    run: Callable[[argparse.Namespace], int]
    """Function that runs the command and returns the exit code. Heavy imports belong here."""

    @classmethod
    def of_module(cls, name: str, help: str, module: str) -> Command:
        """Return a command with the functions ``configure`` and ``run`` of a module, which is
        imported at the first call of either function."""

        def configure(parser: argparse.ArgumentParser) -> None:
            importlib.import_module(module).configure(parser)

        def run(arguments: argparse.Namespace) -> int:
            code: int = importlib.import_module(module).run(arguments)
            return code

        return cls(name, help, configure, run)
