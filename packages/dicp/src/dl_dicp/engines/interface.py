"""Interface that a wheel implements to run contract graphs with its own engine.

The hook ``dl_graph_engines`` returns a :class:`dl_core.contributions.Contribution` whose ``load``
returns a :class:`GraphEngine`; ``torch.compile(model, backend="dl", options={"engine": NAME})``
chooses it. Nothing in here imports torch, and no engine has to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class RejectedError(Exception):
    """An engine rejects a graph that it has accepted; the message has the reason."""


class Runner(Protocol):
    """Runner of a compiled graph."""

    def __call__(self, addresses: Sequence[int], stream: int) -> None:
        """Enqueue the graph.

        :param addresses: of the storages of kind ``input`` and ``output``, in the order in which
            the entry lists them. Outputs hold noise; inputs may be written where a call does.
        :param stream: of the device, as the vendor's library knows it; 0: the default one, and
            where the device computes in the thread that calls.
        """


class GraphEngine(Protocol):
    """Graph engine of a vendor.

    Graphs are documents as ``docs/graph.md`` of dl-graph describes them, verified, with one
    entry ``main``, without symbols, constants, states and generators. They are not to be changed.
    """

    @property
    def version(self) -> str:
        """Return the version of the engine; code of another version is not loaded."""

    def accepts(self, graph: Mapping[str, Any]) -> Sequence[bool]:
        """For each call of the entry, whether the engine would run it. Neighbours that it accepts
        become a graph of their own."""

    def compile(self, graph: Mapping[str, Any]) -> bytes:
        """Compile a graph of accepted calls.

        :raises RejectedError: it cannot be done; any other exception means the same.
        """

    def load(self, code: bytes) -> Runner:
        """Return a runner for compiled code, which lives as long as the graph."""
