"""Internal exceptions: reasons why a graph or a part runs eagerly instead of compiled."""

from __future__ import annotations


class HostCallError(Exception):
    """An operator must run eagerly between contract graphs; the message has the reason."""


class NotCompiledError(Exception):
    """A whole graph must run eagerly; the message has the reason."""


class RefusedCallError(NotCompiledError):
    """The verifier rejected a call, which becomes a host call when the graph is recorded again."""


class FixedSizesError(Exception):
    """A program cannot serve other sizes than the recorded ones; the message has the reason."""


class OwnCaseError(FixedSizesError):
    """These sizes need a separate program; one program may serve all other sizes."""
