"""Plugin of dl-gpu-sim for ``dl``. Imports no torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from dl_core.commands import Command

hookimpl = pluggy.HookimplMarker("dl")


@hookimpl
def dl_cli_commands() -> Sequence[Command]:
    """Return the command ``dl gpu-sim``."""
    from dl_core.commands import Command

    help = "run a GPU program without a GPU and check it, or list the kernels of a PTX file"
    return [Command.of_module("gpu-sim", help, "dl_gpu_sim.command")]
