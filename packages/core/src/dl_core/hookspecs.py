"""The hooks that plugins implement.

A plugin is a module named by an entry point of group ``dl``; its hook functions are decorated with
:data:`hookimpl`. The module is imported during ``import torch``: it must not import torch or start
a driver, and slow work belongs in the functions that need it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from diopi_proto.descriptor import AddedOperators, VendorDescriptor
    from dl_core.commands import Command
    from dl_core.contributions import Contribution

PROJECT = "dl"
"""Name of the pluggy project and of the entry-point group."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def dl_vendor() -> VendorDescriptor | None:
    """Describe the vendor library of this wheel.

    Called once per process, during ``import torch``, and by ``dl doctor``. Must not load libraries
    or touch a driver. Return None if this wheel has no library for this platform.
    """


@hookspec
def dl_operators() -> Sequence[AddedOperators]:  # type: ignore[empty-body]
    """Add operators to the devices of an existing vendor, such as a faster attention.

    Called once per process, during ``import torch``, and by ``dl doctor`` and ``dl conformance``.
    Must not load libraries or touch a driver. Each element describes a library that lists
    operators (``dl/added_operators.h``). They are called before the vendor's own, the highest
    priority first; a call that they decline runs on the vendor's own operator. A library that
    cannot be used gives a warning and changes nothing. An empty sequence adds nothing.
    """


@hookspec
def dl_cli_commands() -> Sequence[Command]:  # type: ignore[empty-body]
    """Add subcommands to ``dl``.

    Called once each time ``dl`` runs with a command that is not built in, never by torch. A name
    that ``dl`` or an earlier plugin already uses is reported and ignored. An empty sequence adds
    nothing.
    """


# The hooks below return contributions for a tool. They are called when the tool runs, possibly
# often, and never during ``import torch``; heavy imports belong in `load`. An empty sequence adds
# nothing.


@hookspec
def dl_graph_engines() -> Sequence[Contribution]:  # type: ignore[empty-body]
    """Add engines that run contract graphs. dl-dicp uses them for compiled models if
    ``torch.compile(model, backend="dl", options={"engine": <name>})`` requests one.

    ``load`` returns a ``dl_dicp.engines.GraphEngine``. If an engine rejects a graph or computes a
    wrong result in the first run, the contract's executor runs the graph.
    """


@hookspec
def dl_graph_patterns() -> Sequence[Contribution]:  # type: ignore[empty-body]
    """Add rewrite patterns that replace sequences of contract calls with fused operators. dl-dicp
    applies them to compiled models after its own patterns.

    ``load`` returns a ``dl_dicp.patterns.Pattern``.
    """


@hookspec
def dl_tuned_databases() -> Sequence[Contribution]:  # type: ignore[empty-body]
    """Add databases of measured choices between a vendor's implementations.

    The contribution's name is the layer's: ``user`` and ``site`` belong to dl-autotune and take
    precedence over all others. ``load`` returns the ``pathlib.Path`` of an SQLite file with the
    table of :data:`dl_core.tuned_choices.SCHEMA`, which need not exist, or an object with the
    interface :class:`dl_core.tuned_choices.Server`. ``load`` is called during ``import torch``. The
    database is read at the first operator with a choice, and never written.
    Entries of another release or device are ignored.
    """


@hookspec
def dl_conformance_profiles() -> Sequence[Contribution]:  # type: ignore[empty-body]
    """Add conformance profiles: sets of operators and dtypes that a vendor can promise.

    The contribution's name is the profile's. ``load`` returns a mapping from an operator's name in
    the contract (``"diopiAdd"``) to the names of its dtypes (``"float32"``). ``dl conformance
    --profile <name>`` of dl-conformance runs these, and reports an unsupported operator or dtype
    as a failure.
    """


@hookspec
def dl_op_tools() -> Sequence[Contribution]:  # type: ignore[empty-body]
    """Add tools that observe operators at run time: ``dl tool <name>`` of dl-optools runs them.

    ``load`` returns a factory without arguments; each call returns a
    ``torch.utils._python_dispatch.TorchDispatchMode``, which is entered when the program has
    imported torch and left at its end. Names of dl-optools' own tools are reserved.
    """
