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
    from dl_core.contributions import Contribution

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


# The hooks below return what a tool looks for when it runs. They are called then and never by
# torch's import, may be called often, and must import nothing heavy: that is for `load`. An empty
# sequence adds nothing.


@hookspec
def dl_graph_backends() -> Sequence[Contribution]:  # type: ignore[empty-body]
    """Add graph compilers, chosen by ``torch.compile(model, backend=<name>)``.

    ``load`` returns the backend: ``(torch.fx.GraphModule, list[torch.Tensor]) -> callable``, the
    shape of ``torch.compile``'s backends.

    Nothing of this release asks for them yet.
    """


@hookspec
def dl_graph_engines() -> Sequence[Contribution]:  # type: ignore[empty-body]
    """Add engines that run contract graphs, of a vendor or of anyone: dl-dicp offers them the calls
    of compiled models where ``torch.compile(model, backend="dl", options={"engine": <name>})``
    asks for one.

    ``load`` returns a ``dl_dicp.engines.GraphEngine``. What an engine gets wrong on the first run,
    or refuses, the contract's executor runs.
    """


@hookspec
def dl_graph_patterns() -> Sequence[Contribution]:  # type: ignore[empty-body]
    """Add rewritings of sequences of the contract's calls into calls of fused operators, which
    dl-dicp tries on compiled models after its own.

    ``load`` returns a ``dl_dicp.patterns.Pattern``.
    """


@hookspec
def dl_kernel_toolchains() -> Sequence[Contribution]:  # type: ignore[empty-body]
    """Add compilers of kernels, for vendors whose own kernel extension has none.

    ``load`` returns ``(source: str, architecture: str, options: Sequence[str]) -> bytes``: code
    that the kernel extension of the vendor loads. The name is that of the language, as in
    ``dl_kernel_properties_t.languages``. Source that does not compile is a ``ValueError`` with the
    compiler's log.

    Nothing of this release asks for them yet.
    """


@hookspec
def dl_tuning_spaces() -> Sequence[Contribution]:  # type: ignore[empty-body]
    """Add what can be tuned; the name is that of the kernel or the operator.

    ``load`` returns ``(problem: Mapping[str, int | str]) -> Iterable[Mapping[str, int | str]]``:
    for a problem (sizes, dtypes, the architecture) all configurations worth trying, the one to use
    untuned first.

    Nothing of this release asks for them yet.
    """


@hookspec
def dl_tuned_databases() -> Sequence[Contribution]:  # type: ignore[empty-body]
    """Add choices between a vendor's implementations that were measured.

    The name is that of the layer: ``user`` and ``site`` are those of dl-autotune, which go before
    all others. ``load`` returns the ``pathlib.Path`` of an SQLite file with the table of
    :data:`dl_core.tuned_choices.SCHEMA`, which need not be there; it is called while torch is
    imported. The file is read by the first operator that has a choice, and never written. Entries
    of another release or device than the ones at hand are ignored.
    """


@hookspec
def dl_conformance_profiles() -> Sequence[Contribution]:  # type: ignore[empty-body]
    """Add sets of operators and dtypes that a vendor can promise; the name is that of the profile.

    ``load`` returns a mapping from the operator's name in the contract (``"diopiAdd"``) to the
    names of its dtypes (``"float32"``). ``dl conformance --profile <name>`` of dl-conformance runs
    what it promises, and counts as a failure what of it is not supported.
    """


@hookspec
def dl_op_tools() -> Sequence[Contribution]:  # type: ignore[empty-body]
    """Add tools that watch operators while they run: ``dl tool <name>`` of dl-optools runs them.

    ``load`` returns a factory without arguments; each call of it makes a
    ``torch.utils._python_dispatch.TorchDispatchMode``, entered when a program has imported
    torch and left at the program's end. Names of dl-optools' own tools are taken.
    """
