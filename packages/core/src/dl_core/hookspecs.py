"""The hooks that plugins implement.

A plugin is a module named by an entry point of group ``dl``; its functions carry :data:`hookimpl`.
The module is imported while torch is being imported: it must import no torch, start no driver, and
leave whatever is slow to the functions that need it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from diopi_proto.descriptor import VendorDescriptor
    from dl_core.commands import Command

PROJECT = "dl"
"""Name of the pluggy project and of the entry-point group."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def dl_vendor() -> VendorDescriptor | None:
    """Describe the vendor library of this wheel.

    Called once per process, while torch is being imported, and by ``dl doctor``. Must load nothing
    and touch no driver. None: this wheel has no library for this platform.
    """


@hookspec
def dl_cli_commands() -> Sequence[Command]:  # type: ignore[empty-body]
    """Add subcommands to ``dl``.

    Called once each time ``dl`` runs with a command that is not its own, never by torch. A name
    that ``dl`` or an earlier plugin has taken is reported and left out. An empty sequence adds
    nothing.
    """
