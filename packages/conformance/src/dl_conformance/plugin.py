"""Plugin of dl-core that adds ``dl conformance`` and ``dl vendor``. It does not import torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from dl_core.commands import Command

hookimpl = pluggy.HookimplMarker("dl")


@hookimpl
def dl_cli_commands() -> Sequence[Command]:
    """Return the commands ``dl conformance`` and ``dl vendor``."""
    from dl_core.commands import Command

    help = "run the conformance suite on the operators of a library"
    return [
        Command.of_module("conformance", help, "dl_conformance.command"),
        Command.of_module("vendor", "check a vendor's library", "dl_conformance.vendor_command"),
    ]
