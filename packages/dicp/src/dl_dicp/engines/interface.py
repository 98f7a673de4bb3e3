"""Interface that a wheel implements to run contract graphs with its own engine.

The hook ``dl_graph_engines`` returns a :class:`dl_core.contributions.Contribution` whose ``load``
returns a :class:`GraphEngine`; ``torch.compile(model, backend="dl", options={"engine": NAME})``
chooses it. This module does not import torch, and engines need not either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class RejectedError(Exception):
    """An engine rejects a graph whose calls it has accepted; the message has the reason."""


class Runner(Protocol):
    """Function that enqueues a compiled graph. For a graph with symbols it has a third parameter:
    the tuple of their sizes, in the order in which the entry lists them."""

    def __call__(self, addresses: Sequence[int], stream: int) -> None:
        """Enqueue the graph.

        :param addresses: addresses of the storages of kind ``input`` and ``output``, in the order
            in which the entry lists them. Outputs are uninitialized. An input may be written only
            if a call of the graph writes it.
        :param stream: the vendor library's handle of a stream; 0 for the default stream, and for
            devices that compute in the calling thread.
        """


class GraphEngine(Protocol):
    """Graph engine of a vendor.

    Graphs are documents in the format of dl-graph's ``docs/graph.md``. They are verified, have one
    entry ``main``, and no constants, states or generators. Engines must not change them.

    Sizes are integers, unless the engine has an attribute ``takes_symbols`` that is true: then a
    graph that serves many sizes has symbols and guards, and is compiled once. Otherwise such a
    graph is compiled for each tuple of sizes, up to a limit.

    An engine may have a text ``cache_key``, which names all that compiled code depends on apart
    from the graph and the version, such as the chip and the release of its compiler. Compiled code
    is then stored in ``dl/graphs`` of the user's cache folder, and later processes load it.
    """

    @property
    def version(self) -> str:
        """Return the version of the engine; code of another version is not loaded."""

    def accepts(self, graph: Mapping[str, Any]) -> Sequence[bool]:
        """Return for each call of the entry whether the engine can run it. Consecutive accepted
        calls become a separate graph."""

    def compile(self, graph: Mapping[str, Any]) -> bytes:
        """Compile a graph of accepted calls.

        :raises RejectedError: the engine cannot compile the graph. Any other exception means the
            same.
        """

    def load(self, code: bytes) -> Runner:
        """Return a runner for compiled code. The runner lives as long as the graph."""


def takes_symbols(engine: GraphEngine) -> bool:
    """Return True if an engine compiles graphs with symbols."""
    return bool(getattr(engine, "takes_symbols", False))
