"""Plugin hooks of dl-dicp: commands and graph engines. Importing this module imports no torch."""

from __future__ import annotations

from collections.abc import Sequence

from dl_core.commands import Command
from dl_core.contributions import Contribution
from dl_core.hookspecs import hookimpl


@hookimpl
def dl_cli_commands() -> Sequence[Command]:
    """Return the commands ``dl dicp`` and ``dl compile``."""
    from dl_dicp.commands.compile import COMPILE
    from dl_dicp.commands.dicp import DICP

    return [DICP, COMPILE]


@hookimpl
def dl_graph_engines() -> Sequence[Contribution]:
    """Return the engine that writes the text of Ascend's operator graphs without running them."""

    def load() -> object:
        from dl_dicp.engines.ascend_text import AscendText

        return AscendText()

    return [
        Contribution("ascend-text", "Operator graphs for Ascend's GE as text; simulated.", load)
    ]
