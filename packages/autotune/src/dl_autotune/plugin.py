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
    """Return the command ``dl tune``."""
    from dl_core.commands import Command

    help = "find the fastest configuration of kernels and operators, and confirm it independently"
    return [Command.of_module("tune", help, "dl_autotune.command")]


@hookimpl
def dl_tuned_databases() -> Sequence[Contribution]:
    """Return the databases of choices: the user's database and the environment's."""
    from dl_core.contributions import Contribution

    from .layers import as_layer, site_database, user_database

    def user() -> object:
        return as_layer(user_database())

    def site() -> object:
        return as_layer(site_database())

    return [
        Contribution("user", "choices that this user has measured", user),
        Contribution("site", "choices that were measured for this environment", site),
    ]


@hookimpl
def dl_op_tools() -> Sequence[Contribution]:
    """Return the op tool with which ``dl tune model`` records the calls of a program."""
    from dl_core.contributions import Contribution

    def load() -> object:
        from .operators.recording import CallRecorder

        return CallRecorder

    help = "counts and times distinct operator calls for dl tune model"
    return [Contribution("tuning-calls", help, load)]
