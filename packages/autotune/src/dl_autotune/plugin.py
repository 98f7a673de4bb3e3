"""What dl-autotune adds to ``dl``. Imports no torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from dl_core.commands import Command

hookimpl = pluggy.HookimplMarker("dl")


@hookimpl
def dl_cli_commands() -> Sequence[Command]:
    """The command ``dl tune``."""
    from dl_core.commands import Command

    help = "find the fastest configuration of a kernel, and measure it again before it is believed"
    return [Command.of_module("tune", help, "dl_autotune.command")]
