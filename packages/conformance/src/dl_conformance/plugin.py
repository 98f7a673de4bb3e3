"""Plugin of dl-core that adds ``dl conformance``. It does not import torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from dl_core.commands import Command

hookimpl = pluggy.HookimplMarker("dl")


@hookimpl
def dl_cli_commands() -> Sequence[Command]:
    """Return the command ``dl conformance``."""
    from dl_core.commands import Command

    help = "run the conformance suite on the operators of a library"
    return [Command.of_module("conformance", help, "dl_conformance.command")]
