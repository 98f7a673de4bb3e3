"""What dl-gpu-sim adds to ``dl``. Imports no torch."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from dl_core.commands import Command

hookimpl = pluggy.HookimplMarker("dl")


def _configure(parser: argparse.ArgumentParser) -> None:
    from .command import configure

    configure(parser)


def _run(arguments: argparse.Namespace) -> int:
    from .command import run

    return run(arguments)


@hookimpl
def dl_cli_commands() -> Sequence[Command]:
    """The command ``dl gpu-sim``."""
    from dl_core.commands import Command

    help = "run a GPU program without a GPU and check it, or list the kernels of a PTX file"
    return [Command("gpu-sim", help, _configure, _run)]
