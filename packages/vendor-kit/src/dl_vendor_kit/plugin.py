"""Plugin of dl-core that adds ``dl new-vendor``. It does not import torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from dl_core.commands import Command

hookimpl = pluggy.HookimplMarker("dl")


@hookimpl
def dl_cli_commands() -> Sequence[Command]:
    """Return the command ``dl new-vendor``."""
    from dl_core.commands import Command

    help = "create the project of a vendor for a new device"
    return [Command.of_module("new-vendor", help, "dl_vendor_kit.command")]
