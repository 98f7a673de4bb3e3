"""What dl-dicp adds to ``dl``: the modules of :mod:`.commands`. Imports no torch."""

from __future__ import annotations

from collections.abc import Sequence

from dl_core.commands import Command
from dl_core.hookspecs import hookimpl


@hookimpl
def dl_cli_commands() -> Sequence[Command]:
    """``dl dicp`` and ``dl compile``."""
    from dl_dicp.commands.compile import COMPILE
    from dl_dicp.commands.dicp import DICP

    return [DICP, COMPILE]
