"""Reasons for which a graph, or a part, is not compiled but runs eagerly. Users do not see them."""

from __future__ import annotations


class HostCallError(Exception):
    """An operator has to run eagerly between contract graphs; the text says why."""


class NotCompiledError(Exception):
    """A whole graph has to run eagerly; the text says why."""


class RefusedCallError(NotCompiledError):
    """A call was refused that will be a host call when the graph is recorded again."""


class FixedSizesError(Exception):
    """A program cannot serve other sizes than those it was recorded with; the text says why."""


class OwnCaseError(FixedSizesError):
    """These sizes are a case of their own; the graph may serve others with one program."""
