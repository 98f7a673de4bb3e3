"""Plugin of dl-autotune for ``dl``. Imports no torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from dl_core.commands import Command
    from dl_core.contributions import Contribution

hookimpl = pluggy.HookimplMarker("dl")


@hookimpl
def dl_cli_commands() -> Sequence[Command]:
    """The command ``dl tune``."""
    from dl_core.commands import Command

    help = "find the fastest configuration of a kernel, and measure it again before it is believed"
    return [Command.of_module("tune", help, "dl_autotune.command")]


@hookimpl
def dl_tuned_databases() -> Sequence[Contribution]:
    """Databases of choices: the user's own, and the one of this environment."""
    from dl_core.contributions import Contribution

    from .layers import site_database, user_database

    return [
        Contribution("user", "choices that this user has measured", user_database),
        Contribution("site", "choices that were measured for this environment", site_database),
    ]


@hookimpl
def dl_op_tools() -> Sequence[Contribution]:
    """Op tool by which ``dl tune model`` records a program's calls."""
    from dl_core.contributions import Contribution

    def load() -> object:
        from .operators.recording import CallRecorder

        return CallRecorder

    help = "counts and times distinct operator calls for dl tune model"
    return [Contribution("tuning-calls", help, load)]
