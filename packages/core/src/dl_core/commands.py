"""What a subcommand of ``dl`` is: the built-in ones and those that plugins add."""

from __future__ import annotations

import argparse
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
