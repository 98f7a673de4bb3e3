"""What dl-conformance adds to ``dl``. Imports no torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from dl_core.commands import Command

hookimpl = pluggy.HookimplMarker("dl")


@hookimpl
def dl_cli_commands() -> Sequence[Command]:
    """The command ``dl conformance``."""
    from dl_core.commands import Command

    help = "which operators of a library are right, and by how much the others are wrong"
    return [Command.of_module("conformance", help, "dl_conformance.command")]
