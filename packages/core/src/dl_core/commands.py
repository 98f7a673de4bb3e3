"""What a subcommand of ``dl`` is: the built-in ones and those that plugins add."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Command:
    """One subcommand of ``dl``."""

    name: str
    """What the user types after ``dl``."""
    help: str
    """One line for ``dl --help``."""
    configure: Callable[[argparse.ArgumentParser], None]
    """Adds the arguments. Called only when ``dl`` runs."""
    run: Callable[[argparse.Namespace], int]
    """Does the work and returns the exit code. Heavy imports belong in here."""

    @classmethod
    def of_module(cls, name: str, help: str, module: str) -> Command:
        """The command whose functions are ``configure`` and ``run`` of a module, which is imported
        when one of them is first called."""

        def configure(parser: argparse.ArgumentParser) -> None:
            importlib.import_module(module).configure(parser)

        def run(arguments: argparse.Namespace) -> int:
            code: int = importlib.import_module(module).run(arguments)
            return code

        return cls(name, help, configure, run)
