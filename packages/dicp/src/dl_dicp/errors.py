"""Why a graph, or a part of it, is not compiled. Neither reaches the user: it runs eagerly."""

from __future__ import annotations


class HostCallError(Exception):
    """An operator has to run eagerly between contract graphs; the text says why."""


class NotCompiledError(Exception):
    """A whole graph has to run eagerly; the text says why."""


class RefusedCallError(NotCompiledError):
    """A call was refused that will be a host call when the graph is recorded again."""
